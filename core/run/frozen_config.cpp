#include "core/run/frozen_config.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/schema.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

nlohmann::ordered_json frozenJson(const RunFile& file)
{
    nlohmann::ordered_json json = { { "data identity", file.dataIdentity }, { "tokenizer hash", file.tokenizerHash }, { "vocabulary size", file.vocabularySize },
        { "samples per block in force", file.samplesPerBlock } };
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

} // namespace furrow
