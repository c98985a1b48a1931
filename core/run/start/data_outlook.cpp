#include "core/run/start/data_outlook.h"

#include "core/base/is_there.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/block_manager.h"
#include "core/run/folder/run_file.h"
#include "core/run/status/ledger_view.h"
#include "core/tracker/each_block.h"

#include <set>

namespace furrow {

namespace {

/// The files of its source, by their index, that changed and of which rows are in the block.
std::set<std::int32_t> changedFilesOf(
    const PlannedBlock& block, const DataManifest& manifest, const std::map<std::string, Message>& changed)
{
    std::set<std::int32_t> indices;
    if (block.source < 0 || block.source >= std::ssize(manifest.sources))
        return indices;
    const auto& files = manifest.sources[static_cast<std::size_t>(block.source)].files;
    for (const Segment& segment : block.segments)
        if (!segment.isLeftOut && segment.file >= 0 && segment.file < std::ssize(files)
            && changed.contains(files[static_cast<std::size_t>(segment.file)].path))
            indices.insert(segment.file);
    return indices;
}

/// As the feeder leaves them out (Feeder::leaveOut): a block that was prepared once stays what it was.
/// @return 0: all of it; nothing: no row
Result<std::optional<std::int64_t>> rowsWithout(
    const LedgerReader::BlockRow& row, const DataManifest& manifest, const std::map<std::string, Message>& changed)
{
    FURROW_TRY_ASSIGN(const auto block, BlockManager::fromPlan(row.plan));
    const auto files = changedFilesOf(block, manifest, changed);
    if (files.empty())
        return std::optional<std::int64_t>();
    FURROW_TRY_ASSIGN(const auto rest, planWithout(row.plan, files));
    const bool isWhole = rest.rows() == rest.rowsLeftOut() || !row.digest.empty();
    return std::optional(isWhole ? 0 : rest.rowsLeftOut() - block.rowsLeftOut());
}

bool isToBeTrained(ChunkFate fate)
{
    switch (fate) {
    case ChunkFate::Redo:
    case ChunkFate::Lost:
    case ChunkFate::Released:
    case ChunkFate::Partly:
    case ChunkFate::Free: return true;
    case ChunkFate::Kept:
    case ChunkFate::Excluded:
    case ChunkFate::Parents:
    case ChunkFate::Poisoned: break;
    }
    return false;
}

Message leftOutSentence(const DataOutlook& data, const LeftOutOfData& leftOut)
{
    constexpr std::size_t kNamed = 10;
    Message files;
    std::size_t named = 0;
    for (const auto& [path, how] : data.look.changed)
        if (++named <= kNamed)
            files += (files.empty() ? "" : " ") + withFullStop(how);
    if (named > kNamed)
        files += " " + sentence("Files that changed: %1.", { Count(static_cast<std::int64_t>(named)) });
    Message all = sentence(
        "%1 A resume with %2 leaves out by name what is not prepared of that. Chunks of the epochs that are open: %3; rows of other chunks: %4.",
        { files, optionTerm("bad_files", "leave_out"), Count(leftOut.chunks), Count(leftOut.rows) });
    if (!data.isAllKnown)
        all += " "
            + sentence(
                "Not all of the data is in blocks yet. What it leaves out of the rest is not known, and is not counted here.");
    return all;
}

} // namespace

Result<DataOutlook> lookAtData(const RunPaths& paths)
{
    constexpr std::chrono::seconds kPatience(2);
    constexpr std::chrono::seconds kReadingPatience(30);
    DataOutlook data;
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    const auto manifest = readManifest(std::string_view(file.dataManifest));
    if (!manifest.ok()) // run.json is for checkResume() to refuse
        return data;
    data.look = lookAtLocalFiles(manifest.value(), kPatience, kReadingPatience);
    if (data.look.changed.empty())
        return data;
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    FURROW_TRY_ASSIGN(const auto epochs, reader.epochs());
    data.isAllKnown = !epochs.empty() && epochs.front().blockCount.has_value();
    const auto cache = BlockManager::blockFolder(paths.cacheFolder());
    FURROW_TRY(forEachBlock(reader, LedgerReader::Blocks::Known, [&](const LedgerReader::BlockRow& row) -> Status {
        if (!row.fileName.empty() && isThere(cache / row.fileName)) // trained from there
            return {};
        FURROW_TRY_ASSIGN(const auto rows, rowsWithout(row, manifest.value(), data.look.changed));
        if (rows)
            data.rowsLeftOut[row.block] = *rows;
        return {};
    }));
    return data;
}

Status refuseChangedData(const DataOutlook& data, const RunConfig& wanted)
{
    if (wanted.badFiles == BadFiles::LeaveOut || data.look.changed.empty())
        return {};
    // As an attempt that has failed is told: the words are those of its feeder.
    return Error { ErrorCode::Internal, data.look.asItWas.error().message };
}

LeftOutOfData leftOutOf(const DataOutlook& data, const RunConfig& wanted, const ResumeEffect& effect)
{
    LeftOutOfData leftOut;
    if (wanted.badFiles != BadFiles::LeaveOut || data.rowsLeftOut.empty())
        return leftOut;
    for (const auto& epoch : effect.epochs) {
        std::set<std::int64_t> counted; // blocks of which other rows are trained
        for (const ChunkCell& cell : epoch.cells) {
            const std::int64_t block = placeOf(cell.id).block;
            const auto found = data.rowsLeftOut.find(block);
            if (found == data.rowsLeftOut.end() || !isToBeTrained(effect.fateOf(cell)))
                continue;
            if (found->second == 0)
                ++leftOut.chunks;
            else if (counted.insert(block).second)
                leftOut.rows += found->second;
        }
    }
    return leftOut;
}

std::vector<Message> dataNotes(const DataOutlook& data, const RunConfig& wanted, const ResumeEffect& effect)
{
    std::vector<Message> notes;
    if (!data.look.unknown.empty())
        notes.push_back(data.look.unknown);
    if (wanted.badFiles == BadFiles::LeaveOut && !data.look.changed.empty())
        notes.push_back(leftOutSentence(data, leftOutOf(data, wanted, effect)));
    if (!data.look.away.empty())
        notes.push_back(
            sentence("%1 A run that needs it waits for its disk or share.", { withFullStop(data.look.away) }));
    return notes;
}

} // namespace furrow
