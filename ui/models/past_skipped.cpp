#include "ui/models/past_skipped.h"

#include <algorithm>
#include <map>

namespace furrow {

SkippedThen::SkippedThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<Replay::Left>& left)
    : parts_(wallNs, tables, left)
{
    if (tables != nullptr && tables->skipped && !tables->skipped->empty())
        chunks_ = tables->skipped;
}

const std::vector<SkippedChunk>& SkippedThen::chunks() const
{
    static const std::vector<SkippedChunk> none;
    return chunks_ ? *chunks_ : none;
}

std::int64_t SkippedThen::windowsOf(const SkippedChunk& chunk) const
{
    std::int64_t sum = 0;
    for (const SkippedChunk::Windows& one : chunk.skipped)
        sum += parts_.isThere(one.checkpoint, one.isAlive) ? one.count : 0;
    return std::min(sum, chunk.windows);
}

std::int64_t SkippedThen::windowsOf(ChunkId chunk) const
{
    const auto found = std::ranges::lower_bound(chunks(), chunk, {}, &SkippedChunk::chunk);
    return found == chunks().end() || found->chunk != chunk ? 0 : windowsOf(*found);
}

void takeSkippedBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const SkippedThen then(wallNs, sources.tables, sources.left);
    if (then.chunks().empty())
        return;
    std::map<ChunkId, const ChunkCell*> cells;
    for (const SkippedChunk& chunk : then.chunks())
        cells[chunk.chunk] = nullptr;
    for (const PastSources::Epoch& epoch : sources.epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (const auto found = cells.find(cell.id); found != cells.end())
                found->second = &cell;
    for (EpochRow& epoch : status.epochs)
        epoch.rowsCommitted.rows = epoch.rowsCommitted.samples; // cells do not know the others
    for (const SkippedChunk& chunk : then.chunks()) {
        const ChunkCell* cell = cells[chunk.chunk];
        const auto epoch = std::find_if(status.epochs.begin(), status.epochs.end(),
            [&chunk](const EpochRow& row) { return row.epoch == placeOf(chunk.chunk).epoch; });
        if (cell == nullptr || epoch == status.epochs.end())
            continue;
        if (cell->state == ChunkState::Committed)
            epoch->rowsCommitted.rows += chunk.samplesOf(then.windowsOf(chunk));
    }
}

} // namespace furrow
