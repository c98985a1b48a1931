// run.json, format 1. FORMAT.md beside this file describes every field.

#include "core/run/folder/run_file.h"

#include "core/base/denied.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/config/message_json.h"
#include "core/config/schema.h"
#include "core/model/model_config.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace furrow {

namespace {

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBytes = 64 << 20; // a manifest of a million files fits
constexpr std::int64_t kMaxSamplesPerBlock = 1'000'000'000;

Error broken(const RunPaths& paths, const Message& why)
{
    return { ErrorCode::Corrupt, sentence("%1 cannot be used: %2", { utf8Text(paths.configFile()), why }) };
}

/// Of a file that was edited to what cannot be, nothing: the length is judged by the bytes of the files then.
EpochLength epochFrom(const JsonPart& data)
{
    const EpochLength epoch { data.valueOr("epoch_tokens", 0.0), data.valueOr("tokens_per_sample", 0.0),
        data.valueOr("bytes_per_sample", 0.0), data.valueOr("window_fill", 1.0) };
    const auto isAmount = [](double value) { return value >= 0 && value <= 1e18; }; // NaN is none
    const bool isSound = isAmount(epoch.labels) && isAmount(epoch.labelsPerSample) && isAmount(epoch.bytesPerSample)
        && epoch.windowFill > 0 && epoch.windowFill <= 1;
    return isSound ? epoch : EpochLength {};
}

Result<RunFile> parse(const RunPaths& paths, JsonReading& reading)
{
    const JsonPart json = reading.root();
    const bool isOurs = !reading.ok()
        || (json.raw().is_object() && json.raw().contains("format") && json.raw()["format"].is_number_integer());
    if (!isOurs)
        return broken(paths, sentence("it is not the run.json of a Furrow run."));
    if (reading.ok() && json["format"].raw() > kFormat)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 was made by Furrow %2 (format %3). This is %4, which reads format 1; use the newer program.",
                { utf8Text(paths.folder()), json.valueOr("furrow_version", std::string("of a newer version")),
                    json["format"].raw().dump(), FURROW_VERSION }) };
    RunFile file;
    json["run_id"].to(file.runId);
    json["preset"].to(file.preset);
    json["created_ns"].to(file.createdWallNs);
    json["furrow_version"].to(file.furrowVersion);
    const JsonPart data = json["data"];
    data["identity"].to(file.dataIdentity);
    file.dataManifest = data["manifest"].raw().dump();
    file.samplesPerBlock = data["samples_per_block"].within(1, kMaxSamplesPerBlock);
    file.samplesPerBlockReason = messageOf(
        data["samples_per_block_reason"].as<std::string>(), data.valueOr("samples_per_block_message", std::string()));
    data["tokenizer_hash"].to(file.tokenizerHash);
    file.vocabularySize
        = static_cast<std::uint32_t>(data["vocabulary_size"].within(1, std::numeric_limits<std::uint32_t>::max()));
    file.heldOutHash = data.valueOr("held_out_sha256", std::string());
    if (data.has("evaluation_notes"))
        data["evaluation_notes"].each([&file](const JsonPart& note) {
            file.evaluationNotes.push_back(
                messageOf(note["text"].as<std::string>(), note["message"].as<std::string>()));
        });
    file.originHash = data.valueOr("origin_sha256", std::string());
    file.startWeightsHash = data.valueOr("start_weights_sha256", std::string());
    file.questionsHash = data.valueOr("questions_sha256", std::string());
    file.parentListHash = data.valueOr("parent_chunks_sha256", std::string());
    file.epoch = epochFrom(data);
    json["parent_run"].to(file.parentRun);
    RunConfig base;
    base.documentMasks = DocumentMasks::Off; // as runs trained before the settings were: they go on as they began
    base.packing = Packing::EndToEnd;
    auto config = configFromJson(json["config"].raw(), base);
    if (!reading.ok())
        return Error { ErrorCode::Corrupt,
            sentence("%1 cannot be used: %2. Restore it from a copy of the run.",
                { utf8Text(paths.configFile()), reading.trouble() }) };
    if (!config.problems.empty())
        return broken(paths, toString(config.problems));
    file.config = std::move(config.config);
    if (!file.config.shape.empty())
        if (const auto shape = parseShape(file.config.shape); !shape.ok())
            return broken(paths, shape.error().message);
    file.config.name = plainLine(file.config.name);
    return file;
}

} // namespace

Status checkIsRun(const RunPaths& paths)
{
    std::error_code unknown;
    if (!std::filesystem::exists(paths.folder(), unknown) && !unknown)
        return Error { ErrorCode::NotFound,
            sentence("The folder %1 is not there: it was moved or deleted, or its disk is not mounted.",
                { utf8Text(paths.folder()) }) };
    const bool isRun = std::filesystem::exists(paths.configFile(), unknown);
    if (unknown)
        return Error { ErrorCode::Io,
            sentence(
                "%1 cannot be looked at (%2).", { utf8Text(paths.folder()), whyNot(paths.configFile(), unknown) }) };
    if (!isRun && isTaken(paths.tracker()))
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 has the tracker of a run and no run.json: it was deleted or moved. Put it back from a copy of the run; nothing else says which files the run was made of.",
                { utf8Text(paths.folder()) }) };
    if (!isRun)
        return Error { ErrorCode::NotFound,
            sentence("%1 is not a run: it has no run.json.", { utf8Text(paths.folder()) }) };
    return {};
}

Result<RunFile> readRunFile(const RunPaths& paths)
{
    FURROW_TRY(checkIsRun(paths));
    FURROW_TRY_ASSIGN(auto text, readFile(paths.configFile(), kMaxBytes));
    JsonReading reading(text);
    return parse(paths, reading);
}

Status writeRunFile(const RunPaths& paths, const RunFile& file)
{
    nlohmann::ordered_json json = {
        { "format", kFormat },
        { "run_id", file.runId },
        { "preset", file.preset },
        { "created_ns", file.createdWallNs },
        { "furrow_version", file.furrowVersion },
        { "parent_run", file.parentRun },
        { "data",
            { { "identity", file.dataIdentity }, { "samples_per_block", file.samplesPerBlock },
                { "samples_per_block_reason", file.samplesPerBlockReason.text() },
                { "samples_per_block_message", messageParts(file.samplesPerBlockReason) },
                { "tokenizer_hash", file.tokenizerHash }, { "vocabulary_size", file.vocabularySize },
                { "held_out_sha256", file.heldOutHash }, { "questions_sha256", file.questionsHash },
                { "origin_sha256", file.originHash }, { "start_weights_sha256", file.startWeightsHash },
                { "parent_chunks_sha256", file.parentListHash }, { "epoch_tokens", file.epoch.labels },
                { "tokens_per_sample", file.epoch.labelsPerSample }, { "bytes_per_sample", file.epoch.bytesPerSample },
                { "window_fill", file.epoch.windowFill },
                { "manifest", nlohmann::ordered_json::parse(file.dataManifest) } } },
        { "config", toJson(file.config) },
    };
    for (const Message& note : file.evaluationNotes)
        json["data"]["evaluation_notes"].push_back({ { "text", note.text() }, { "message", messageParts(note) } });
    return writeFileDurably(realFileSystem(), paths.configFile(), json.dump(2) + "\n");
}

} // namespace furrow
