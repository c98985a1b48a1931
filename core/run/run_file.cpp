// run.json, format 1. FORMAT.md beside this file describes every field.

#include "core/run/run_file.h"

#include "core/base/file_system.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/schema.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBytes = 64 << 20; // a manifest of a million files fits
constexpr std::int64_t kMaxSamplesPerBlock = 1'000'000'000;

Error broken(const RunPaths& paths, const std::string& why)
{
    return { ErrorCode::Corrupt, sentence("%1 cannot be used: %2", { paths.configFile().string(), why }) };
}

Result<RunFile> parse(const RunPaths& paths, const nlohmann::json& json)
{
    if (!json.is_object() || !json.contains("format") || !json["format"].is_number_integer())
        return broken(paths, sentence("it is not the run.json of a Furrow run."));
    if (json["format"] > kFormat)
        return Error { ErrorCode::InvalidArgument, sentence("%1 was made by Furrow %2 (format %3). This is %4, which reads format 1; use the newer program.", { paths.folder().string(), json.value("furrow_version", std::string("of a newer version")), std::to_string(json["format"].get<int>()), FURROW_VERSION }) };
    RunFile file;
    file.runId = json.at("run_id");
    file.preset = json.at("preset");
    file.createdWallNs = json.at("created_ns");
    file.furrowVersion = json.at("furrow_version");
    const auto& data = json.at("data");
    file.dataIdentity = data.at("identity");
    file.dataManifest = data.at("manifest").dump();
    file.samplesPerBlock = data.at("samples_per_block");
    file.samplesPerBlockReason = data.at("samples_per_block_reason");
    file.tokenizerHash = data.at("tokenizer_hash");
    file.vocabularySize = data.at("vocabulary_size");
    file.heldOutHash = data.value("held_out_sha256", std::string());
    file.parentRun = json.at("parent_run");
    auto reading = configFromJson(json.at("config"));
    if (file.samplesPerBlock < 1 || file.samplesPerBlock > kMaxSamplesPerBlock || file.vocabularySize < 1)
        return broken(paths, sentence("it has a number that no run can have."));
    if (!reading.problems.empty())
        return broken(paths, toString(reading.problems));
    file.config = std::move(reading.config);
    file.config.name = plainLine(file.config.name);
    return file;
}

} // namespace

Result<RunFile> readRunFile(const RunPaths& paths)
{
    if (!std::filesystem::exists(paths.configFile()))
        return Error { ErrorCode::NotFound, sentence("%1 is not a run: it has no run.json.", { paths.folder().string() }) };
    auto text = readFile(paths.configFile(), kMaxBytes);
    if (!text.ok())
        return text.error();
    const auto json = parseBoundedJson(text.value());
    if (json.is_discarded())
        return broken(paths, "it is not valid JSON.");
    try {
        return parse(paths, json);
    } catch (const nlohmann::json::exception& e) {
        return broken(paths, std::string("a field is missing or has another type (") + e.what() + ").");
    }
}

Status writeRunFile(const RunPaths& paths, const RunFile& file)
{
    const nlohmann::ordered_json json = {
        { "format", kFormat },
        { "run_id", file.runId },
        { "preset", file.preset },
        { "created_ns", file.createdWallNs },
        { "furrow_version", file.furrowVersion },
        { "parent_run", file.parentRun },
        { "data",
            { { "identity", file.dataIdentity },
                { "samples_per_block", file.samplesPerBlock },
                { "samples_per_block_reason", file.samplesPerBlockReason },
                { "tokenizer_hash", file.tokenizerHash },
                { "vocabulary_size", file.vocabularySize },
                { "held_out_sha256", file.heldOutHash },
                { "manifest", nlohmann::ordered_json::parse(file.dataManifest) } } },
        { "config", toJson(file.config) },
    };
    return writeFileDurably(realFileSystem(), paths.configFile(), json.dump(2) + "\n");
}

} // namespace furrow
