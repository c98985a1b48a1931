#include "core/run/status/row_fates.h"

#include "core/base/sentence.h"
#include "core/data/plan/block_plan.h"
#include "core/data/plan/held_out.h"
#include "core/tracker/each_block.h"
#include "core/tracker/left_out_samples.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

namespace furrow {

namespace {

using Fate = RowFates::Fate;

using FateOfChunks = std::unordered_map<std::int64_t, Fate>; // by the number of the chunk in every epoch

std::int64_t numberOf(std::int64_t block, std::int32_t column) { return block * kMaxChunksPerBlock + column; }

/// @param skipped  windows of chunks that are in no weights although checkpoints count them, as no step was finite
Fate fateOf(const ChunkCell& cell, const std::map<ChunkId, std::int64_t>& skipped)
{
    if (cell.inherited != Inherited::Nothing)
        return Fate::Trained;
    const auto found = skipped.find(cell.id);
    const std::int64_t windows = cell.covered - (found == skipped.end() ? 0 : found->second);
    if (cell.state == ChunkState::Committed)
        return cell.covered > 0 && windows <= 0 ? Fate::LeftOut : Fate::Trained;
    const bool isLeftOut = cell.state == ChunkState::Excluded || cell.state == ChunkState::Accepted;
    return !isLeftOut ? Fate::Open : windows > 0 ? Fate::Trained : Fate::LeftOut;
}

/// Trained once is trained; else the newest epoch decides.
Result<FateOfChunks> fatesOfChunks(LedgerReader& ledger, const std::vector<EpochRow>& epochs)
{
    FURROW_TRY_ASSIGN(const auto chunks, skippedChunks(ledger.file()));
    std::map<ChunkId, std::int64_t> skipped;
    for (const SkippedChunk& chunk : *chunks)
        skipped[chunk.chunk] = chunk.windowsSkipped();
    FateOfChunks fates;
    for (const EpochRow& epoch : epochs) {
        FURROW_TRY_ASSIGN(const auto cells, ledger.cells(epoch.epoch));
        for (const ChunkCell& cell : cells)
            if (Fate& fate = fates[numberOf(cell.block, cell.column)]; fate != Fate::Trained)
                fate = fateOf(cell, skipped);
    }
    return fates;
}

} // namespace

void RowFates::add(const Stretch& stretch)
{
    if (!stretches_.empty()) {
        Stretch& last = stretches_.back();
        const bool goesOn = last.first.file == stretch.first.file && last.first.row + last.rows == stretch.first.row;
        if (goesOn && last.fate == stretch.fate) {
            last.rows += stretch.rows;
            return;
        }
    }
    stretches_.push_back(stretch);
}

Result<RowFates> RowFates::read(LedgerReader& ledger, const DataManifest& manifest)
{
    FURROW_TRY_ASSIGN(const auto epochs, ledger.epochs());
    FURROW_TRY_ASSIGN(const auto chunks, fatesOfChunks(ledger, epochs));
    const auto firstFiles = firstFilesOf(manifest);
    RowFates fates;
    const bool isAllPlanned
        = !epochs.empty() && epochs.front().blockCount && *epochs.front().blockCount == epochs.front().knownBlocks;
    fates.ofOthers_ = isAllPlanned ? Fate::LeftOut : Fate::Open;
    const auto look = [&](const LedgerReader::BlockRow& row) -> Status {
        FURROW_TRY_ASSIGN(const auto plan, readPlan(row.plan));
        if (plan.block.source < 0 || plan.block.source >= std::ssize(firstFiles))
            return {};
        const std::int64_t firstFile = firstFiles[static_cast<std::size_t>(plan.block.source)];
        for (std::int32_t column = 0; column < std::ssize(plan.block.chunkRows); ++column) {
            const auto found = chunks.find(numberOf(row.block, column));
            const Fate fate = found == chunks.end() ? Fate::Open : found->second;
            for (const Segment& part : rowsOfChunk(plan.block, column))
                fates.add(
                    { { firstFile + part.file, part.firstRow }, part.rows, part.isLeftOut ? Fate::LeftOut : fate });
        }
        return {};
    };
    FURROW_TRY(forEachBlock(ledger, LedgerReader::Blocks::Known, look));
    std::sort(fates.stretches_.begin(), fates.stretches_.end(),
        [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
    return fates;
}

RowFates::Fate RowFates::of(RowPlace place) const
{
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), place,
        [](RowPlace p, const Stretch& stretch) { return p < stretch.first; });
    if (after == stretches_.begin())
        return ofOthers_;
    const Stretch& stretch = *std::prev(after);
    const bool isInside = place.file == stretch.first.file && place.row < stretch.first.row + stretch.rows;
    return isInside ? stretch.fate : ofOthers_;
}

Result<std::function<bool(RowPlace)>> trainedRows(
    LedgerReader& ledger, const std::string& dataManifest, const std::filesystem::path& duplicatesFile)
{
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(dataManifest));
    FURROW_TRY_ASSIGN(auto read, RowFates::read(ledger, manifest));
    const auto fates = std::make_shared<const RowFates>(std::move(read));
    std::shared_ptr<const DuplicateIndex> duplicates;
    if (manifest.skipsAllDuplicates)
        if (auto index = DuplicateIndex::open(duplicatesFile); index.ok())
            duplicates = std::make_shared<const DuplicateIndex>(std::move(index).value());
    return std::function<bool(RowPlace)>([fates, duplicates](RowPlace place) {
        return fates->of(place) == Fate::Trained && !(duplicates && duplicates->isRepeat(place));
    });
}

Result<std::int64_t> textsWithoutARow(const DuplicateIndex& duplicates, const RowFates& fates, double heldOutPercent)
{
    std::int64_t texts = 0;
    FURROW_TRY(duplicates.forEachText([&](std::uint64_t fingerprint, RowPlace first) {
        texts += fates.of(first) == Fate::LeftOut && !isHeldOut(fingerprint, heldOutPercent) ? 1 : 0;
    }));
    return texts;
}

Message textsWithoutARowInWords(std::int64_t texts)
{
    if (texts == 0)
        return {};
    return texts == 1
        ? sentence("1 text is not trained at all: its first row is left out, and the others are repeats of that row.")
        : sentence(
              "%1 texts are not trained at all: their first rows are left out, and the others are repeats of those rows.",
              { Count(texts) });
}

} // namespace furrow
