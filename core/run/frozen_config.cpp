#include "core/run/frozen_config.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

constexpr const char* kFacts[] = { "data identity", "tokenizer hash", "vocabulary size", "samples per block in force", "held-out text hash" };

nlohmann::ordered_json frozenJson(const RunFile& file)
{
    nlohmann::ordered_json json = { { kFacts[0], file.dataIdentity }, { kFacts[1], file.tokenizerHash }, { kFacts[2], file.vocabularySize }, { kFacts[3], file.samplesPerBlock },
        { kFacts[4], file.heldOutHash } };
    for (const auto& setting : settings())
        if (setting.resume == ResumeRule::Refused && setting.key != "name" && setting.key != "data") // a moved file is known by its identity
            json[setting.key] = settingText(file.config, setting);
    return json;
}

std::string shown(const nlohmann::json& value)
{
    return value.is_string() ? "'" + value.get<std::string>() + "'" : value.dump();
}

} // namespace

std::string frozenText(const RunFile& file)
{
    return frozenJson(file).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status checkFrozen(const RunFile& file, LedgerReader& reader)
{
    auto text = reader.frozen();
    if (!text.ok())
        return text.error();
    const auto began = parseBoundedJson(text.value());
    if (!began.is_object())
        return {}; // a run of a version that did not keep it
    const nlohmann::json now = frozenJson(file);
    for (const auto& [key, value] : began.items()) {
        const auto found = now.find(key);
        if (found != now.end() && *found != value)
            return Error { ErrorCode::InvalidArgument, sentence("run.json was edited: %1 is %2, the run began with %3. Its chunks and weights were made with that; put it back, or start a new run.", { key, shown(*found), shown(value) }) };
    }
    return {};
}

Result<bool> hasRecord(LedgerReader& reader)
{
    auto text = reader.frozen();
    if (!text.ok())
        return text.error();
    const auto record = parseBoundedJson(text.value());
    return record.is_object() && std::all_of(std::begin(kFacts), std::end(kFacts), [&record](const char* fact) { return record.contains(fact); });
}

Status checkHeldOut(const RunPaths& paths, const RunFile& file, const std::stop_token& stop)
{
    if (file.heldOutHash.empty())
        return {};
    auto hash = sha256File(paths.evaluationFile(), stop);
    if (!hash.ok())
        return hash.error();
    if (hash.value() != file.heldOutHash)
        return Error { ErrorCode::Corrupt, sentence("%1 is not the held-out text this run began with (its SHA-256 differs): losses on it cannot be compared with those before. Put the original file back.", { utf8Text(paths.evaluationFile()) }) };
    return {};
}

} // namespace furrow
