#include "core/run/folder/frozen_config.h"

#include "core/base/hash.h"
#include "core/base/outside.h"
#include "core/base/own_file.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/schema.h"
#include "core/data/plan/held_out.h"
#include "core/data/question_file.h"
#include "core/data/tokenizer/tokenizer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

constexpr const char* kFacts[]
    = { "data identity", "tokenizer hash", "vocabulary size", "samples per block in force", "held-out text hash" };

constexpr const char* kFiles = "list of data files";
constexpr const char* kNotes = "notes on the evaluation text";
constexpr const char* kQuestions = "hash of the questions";
constexpr const char* kStartWeights = "hash of the weights to start from";
constexpr const char* kParentList = "hash of the chunks that the parent run trained";
constexpr const char* kEpochTokens = "tokens of an epoch";

/// What the list of files says beside where they lie: a data set may be moved.
std::string hashOfFiles(const RunFile& file)
{
    auto manifest = parseBoundedJson(file.dataManifest);
    if (!manifest.is_object() || !manifest["sources"].is_array())
        return {};
    for (auto& source : manifest["sources"]) {
        if (!source.is_object() || !source["files"].is_array())
            return {};
        source.erase("spec");
        for (auto& one : source["files"])
            if (one.is_object())
                one.erase("path");
    }
    return sha256Hex(manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::ordered_json frozenJson(const RunFile& file)
{
    nlohmann::ordered_json json = { { kFacts[0], file.dataIdentity }, { kFacts[1], file.tokenizerHash },
        { kFacts[2], file.vocabularySize }, { kFacts[3], file.samplesPerBlock }, { kFacts[4], file.heldOutHash },
        { kFiles, hashOfFiles(file) }, { kQuestions, file.questionsHash }, { kEpochTokens, file.epoch.labels },
        { kStartWeights, file.startWeightsHash }, { kParentList, file.parentListHash } };
    if (!file.evaluationNotes.empty())
        json[kNotes] = std::vector<std::string>(file.evaluationNotes.begin(), file.evaluationNotes.end());
    for (const auto& setting : settings())
        if (setting.key != "name" && setting.key != "data") // a moved file is known by its identity
            json[setting.key] = settingText(file.config, setting);
    return json;
}

/// @return "" for a file that is larger: a hole of terabytes takes an hour to hash
Result<std::string> hashOf(const std::filesystem::path& path, std::uint64_t most, const std::stop_token& stop)
{
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    return !unknown && size > most ? Result<std::string>(std::string()) : sha256File(path, stop);
}

std::string shown(const nlohmann::json& value)
{
    return value.is_string() ? "'" + value.get<std::string>() + "'" : value.dump();
}

Error edited(const std::string& key, const std::string& now, const std::string& began)
{
    const auto* setting = findSetting(key);
    if (setting && setting->resume != ResumeRule::Refused)
        return { ErrorCode::InvalidArgument,
            sentence(
                "run.json was edited: %1 is %2, the run began with %3. Put it back; what may change is changed with 'furrowctl resume %4', which keeps what was before.",
                { key, now, began, setting->option() }) };
    return { ErrorCode::InvalidArgument,
        sentence(
            "run.json was edited: %1 is %2, the run began with %3. Its chunks and weights were made with that; put it back, or start a new run.",
            { key, now, began }) };
}

} // namespace

std::string frozenText(const RunFile& file)
{
    return frozenJson(file).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status checkFrozen(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(auto text, reader.frozen());
    const auto began = parseBoundedJson(text);
    if (!began.is_object())
        return {}; // a run of a version that did not keep it
    const nlohmann::json now = frozenJson(file);
    for (const auto& [key, value] : began.items()) {
        const auto found = now.find(key);
        if (found != now.end() && *found != value)
            return edited(key, shown(*found), shown(value));
    }
    return {};
}

Result<FrozenRecord> frozenRecord(LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(auto text, reader.frozen());
    const auto record = parseBoundedJson(text);
    if (!record.is_object() || !std::all_of(std::begin(kFacts), std::end(kFacts), [&record](const char* fact) {
            return record.contains(fact);
        }))
        return FrozenRecord::None;
    return record.contains(kFiles) ? FrozenRecord::Whole : FrozenRecord::Facts;
}

Result<std::shared_ptr<const Tokenizer>> tokenizerOfRun(const RunPaths& paths, const RunFile& file)
{
    auto tokenizer = loadTokenizer(utf8Text(paths.tokenizer()));
    if (!tokenizer.ok() && isOutside(tokenizer.error()))
        return ofOwnFile(tokenizer.error(), paths.tokenizer());
    if (tokenizer.ok() && tokenizer.value()->hash() == file.tokenizerHash)
        return std::shared_ptr<const Tokenizer>(std::move(tokenizer).value());
    return Error { ErrorCode::Corrupt,
        sentence("%1 is not the tokenizer this run began with. Put the original file back.",
            { utf8Text(paths.tokenizer()) }) };
}

Status checkHeldOut(const RunPaths& paths, const RunFile& file, const std::stop_token& stop)
{
    if (file.heldOutHash.empty())
        return {};
    const auto hash = hashOf(paths.evaluationFile(), kMostHeldOutBytes, stop);
    const auto place = utf8Text(paths.evaluationFile());
    const auto folder = utf8Text(paths.folder());
    if (!hash.ok() && hash.error().code == ErrorCode::NotFound)
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 is not there. 'furrowctl doctor %2 --repair' makes it again from the data where that has not changed; else put it back from a copy of the run.",
                { place, folder }) };
    if (!hash.ok())
        return hash.error();
    if (hash.value() != file.heldOutHash)
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 is not the held-out text this run began with (its SHA-256 differs): losses on it cannot be compared with those before. 'furrowctl doctor %2 --repair' puts it aside and makes the original again from the data where that has not changed; else put that back from a copy of the run.",
                { place, folder }) };
    return {};
}

Status checkQuestions(const RunPaths& paths, const RunFile& file, const std::stop_token& stop)
{
    if (file.questionsHash.empty())
        return {};
    const auto hash = hashOf(paths.questionsFile(), kMostQuestionBytes, stop);
    if (!hash.ok())
        return ofOwnFile(hash.error(), paths.questionsFile());
    if (hash.value() != file.questionsHash)
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 does not hold the questions this run began with (its SHA-256 differs): answers to it cannot be compared with those before. Put the original file back.",
                { utf8Text(paths.questionsFile()) }) };
    return {};
}

} // namespace furrow
