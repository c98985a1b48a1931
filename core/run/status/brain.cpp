#include "core/run/status/brain.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/status/run_status.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/trained_behind.h"
#include "core/tracker/window_ranges.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxBytes = 256u << 20; // ten million scattered chunks fit
constexpr std::size_t kMaxAncestors = 100; // folders may name each other in a ring

bool cutsTheSameChunks(const RunFile& a, const RunFile& b)
{
    return a.dataIdentity == b.dataIdentity && a.samplesPerBlock == b.samplesPerBlock
        && a.config.chunkSamples == b.config.chunkSamples && a.config.chunkBytes == b.config.chunkBytes
        && a.config.seqLen == b.config.seqLen;
}

/// Columns by block of the chunks that were seen. @param inOpenPass  in the pass that is not whole yet
std::map<std::int64_t, std::string> columnsSeen(const TrainedBehind& behind, bool inOpenPass, std::int64_t& count)
{
    std::map<std::int64_t, std::string> columns;
    WindowRanges ranges;
    for (std::size_t i = 0; i < behind.chunks.size(); ++i) {
        const auto& chunk = behind.chunks[i];
        if ((inOpenPass ? chunk.timesInOpenPasses : chunk.times) > 0) {
            ++count;
            if (!ranges.empty() && ranges.back().end == chunk.column)
                ++ranges.back().end;
            else
                ranges.push_back({ chunk.column, chunk.column + 1 });
        }
        const bool lastOfBlock = i + 1 == behind.chunks.size() || behind.chunks[i + 1].block != chunk.block;
        if (lastOfBlock && !ranges.empty())
            columns.emplace(chunk.block, encodeRanges(std::exchange(ranges, {})));
    }
    return columns;
}

Status fillFromTracker(const RunPaths& parent, ParentFile& found)
{
    auto reader = openLedger(parent);
    FURROW_TRY_ASSIGN(auto rows, reader.ok() ? reader.value().checkpoints() : reader.error());
    const auto row
        = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.record.folder == found.checkpoint; });
    if (row == rows.end())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "init_from: the run in %1 has no checkpoint %2 in its tracker; `furrowctl eval` and the console list those it has.",
                { found.folder, found.checkpoint }) };
    if (const auto whole = verifyCheckpoint(
            parent.checkpointsFolder() / pathFromUtf8(found.checkpoint), row->record.manifestSha256, found.runId);
        !whole.ok())
        return whole.error().in(Message::of({}, { settingTerm("init_from") }));
    found.step = row->record.step;
    found.tokens = row->record.tokens;
    if (!found.sameData)
        return {};
    FURROW_TRY_ASSIGN(auto behind, trainedBehind(parent.tracker(), row->id));
    found.chunks = columnsSeen(behind, found.skipped, found.chunkCount);
    found.partlyChunks = behind.partlyChunks;
    found.partlySamples = behind.partlySamples;
    if (found.skipped && behind.completePasses > 0 && found.chunkCount == 0)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "parent_chunks is skip, but checkpoint %1 has just ended a pass over this data: nothing of a new one is trained yet. Use parent_chunks=again.",
                { found.checkpoint }) };
    return {};
}

Error unreadable(const RunPaths& paths, const Message& why)
{
    return { ErrorCode::Corrupt,
        sentence("%1 cannot be used: %2. Restore it from a copy of the run.", { utf8Text(paths.parentFile()), why }) };
}

/// The block that a key of "chunks" names, when a run can have it.
std::optional<std::int64_t> blockNamed(const std::string& key)
{
    std::int64_t block = -1;
    const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), block);
    const bool isBlock = failed == std::errc() && end == key.data() + key.size() && block >= 0 && block < kMaxBlocks;
    return isBlock ? std::optional(block) : std::nullopt;
}

std::filesystem::path runFolderOf(const std::filesystem::path& checkpoint)
{
    return checkpoint.parent_path().parent_path();
}

} // namespace

Result<std::optional<ParentFile>> parentOf(const RunFile& child)
{
    using Answer = std::optional<ParentFile>;
    const auto checkpoint = pathFromUtf8(child.config.initFrom);
    const RunPaths parent(runFolderOf(checkpoint));
    const bool skip = child.config.parentChunks == ParentChunks::Skip;
    if (child.config.initFrom.empty() || checkpoint.parent_path() != parent.checkpointsFolder()
        || !isThere(parent.configFile())) {
        if (skip)
            return Error {
                ErrorCode::InvalidArgument,
                sentence(
                    "parent_chunks is skip, but init_from names no checkpoint of a run. Give --init-from RUN/checkpoints/NAME, or leave parent_chunks at again.")
            };
        return Answer {};
    }
    auto file = readRunFile(parent);
    if (!file.ok())
        return file.error().in(Message::of({}, { settingTerm("init_from") }));
    if (file.value().tokenizerHash != child.tokenizerHash)
        return Error { ErrorCode::InvalidArgument,
            sentence("tokenizer is %1, but the weights of init_from were trained with another one. Use --tokenizer %2.",
                { child.config.tokenizer, utf8Text(parent.tokenizer()) }) };
    ParentFile found;
    found.runId = file.value().runId;
    found.folder = utf8Text(parent.folder());
    found.checkpoint = utf8Text(checkpoint.filename());
    found.sameData = cutsTheSameChunks(file.value(), child);
    found.skipped = skip;
    if (skip && !found.sameData)
        return Error {
            ErrorCode::InvalidArgument,
            sentence(
                "parent_chunks is skip, but the run of init_from was trained on other data or cut it into other chunks (data, chunk_samples, chunk_bytes, samples_per_block and seq_len must be the same). Use parent_chunks=again.")
        };
    FURROW_TRY(fillFromTracker(parent, found));
    return Answer { std::move(found) };
}

Message partlyInherited(const ParentFile& parent)
{
    return parent.partlySamples == 0
        ? Message()
        : sentence(
              "samples that the start weights have and that are trained again, since the parent run trained their chunks in part: %1, chunks: %2 (by parent.json)",
              { Count(parent.partlySamples), Count(parent.partlyChunks) });
}

Status writeParent(const RunPaths& paths, const ParentFile& parent)
{
    nlohmann::ordered_json chunks = nlohmann::ordered_json::object();
    for (const auto& [block, columns] : parent.chunks)
        chunks[std::to_string(block)] = columns;
    const nlohmann::ordered_json json = { { "format", 1 }, { "run_id", parent.runId }, { "folder", parent.folder },
        { "checkpoint", parent.checkpoint }, { "step", parent.step }, { "tokens", parent.tokens },
        { "same_data", parent.sameData }, { "skipped", parent.skipped }, { "chunk_count", parent.chunkCount },
        { "partly_chunks", parent.partlyChunks }, { "partly_samples", parent.partlySamples }, { "chunks", chunks } };
    return writeFileDurably(realFileSystem(), paths.parentFile(), json.dump() + "\n");
}

Result<std::optional<ParentFile>> readParent(const RunPaths& paths)
{
    using Answer = std::optional<ParentFile>;
    if (!isThere(paths.parentFile()))
        return Answer {};
    FURROW_TRY_ASSIGN(auto text, readFile(paths.parentFile(), kMaxBytes));
    JsonReading reading(text);
    const JsonPart json = reading.root();
    ParentFile p;
    json["run_id"].to(p.runId);
    json["folder"].to(p.folder);
    json["checkpoint"].to(p.checkpoint);
    p.step = json["step"].within(0, kTotalBounds.most);
    p.tokens = json["tokens"].within(0, kTotalBounds.most);
    json["same_data"].to(p.sameData);
    json["skipped"].to(p.skipped);
    p.chunkCount = json["chunk_count"].within(0, kTotalBounds.most);
    if (json.has("partly_chunks")) { // runs of before do not say it
        p.partlyChunks = json["partly_chunks"].within(0, kTotalBounds.most);
        p.partlySamples = json["partly_samples"].within(0, kTotalBounds.most);
    }
    json["chunks"].eachKey([&p](const std::string& key, const JsonPart& columns) {
        if (const auto block = blockNamed(key))
            p.chunks.emplace(*block, columns.as<std::string>());
        else
            columns.refuse(sentence("is of a block that no run can have"));
    });
    if (!reading.ok())
        return unreadable(paths, reading.trouble());
    return Answer { std::move(p) };
}

Result<Brain> readBrain(const RunPaths& paths)
{
    Brain brain;
    brain.folder = utf8Text(paths.folder());
    FURROW_TRY_ASSIGN(brain.file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    auto rows = reader.checkpoints();
    auto epochs = reader.epochs();
    if (!rows.ok() || !epochs.ok())
        return !rows.ok() ? rows.error() : epochs.error();
    FURROW_TRY_ASSIGN(const auto status, readStatus(paths, reader));
    brain.weights = weightsOf(rows.value());
    brain.epochs = std::move(epochs).value();
    brain.steps = status.steps;
    brain.tokens = status.tokens;
    auto parent = readParent(paths);
    while (parent.ok() && parent.value() && brain.ancestors.size() < kMaxAncestors) {
        const RunPaths ancestor(pathFromUtf8(parent.value()->folder));
        std::error_code unknown;
        brain.ancestors.push_back(
            { std::move(*parent.value()), std::filesystem::exists(ancestor.configFile(), unknown) });
        parent = readParent(ancestor);
    }
    return brain;
}

} // namespace furrow
