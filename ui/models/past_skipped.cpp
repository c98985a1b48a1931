#include "ui/models/past_skipped.h"

#include <algorithm>

namespace furrow {

SkippedThen::SkippedThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<Replay::Left>& left)
    : wallNs_(wallNs)
    , left_(left)
{
    if (tables == nullptr || !tables->skipped || tables->skipped->empty())
        return;
    chunks_ = tables->skipped;
    for (const auto& row : tables->checkpoints)
        saved_[row.id] = row.wallNs;
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
        sum += wasThere(chunk.chunk, one) ? one.count : 0;
    return std::min(sum, chunk.windows);
}

std::int64_t SkippedThen::windowsOf(ChunkId chunk) const
{
    const auto found = std::ranges::lower_bound(chunks(), chunk, {}, &SkippedChunk::chunk);
    return found == chunks().end() || found->chunk != chunk ? 0 : windowsOf(*found);
}

bool SkippedThen::wasThere(ChunkId chunk, const SkippedChunk::Windows& one) const
{
    const auto saved = saved_.find(one.checkpoint);
    if (saved == saved_.end() || saved->second > wallNs_)
        return false;
    if (one.isAlive)
        return true;
    const auto end = std::find_if(left_.begin(), left_.end(), [&](const Replay::Left& left) {
        return left.wallNs > saved->second && chunk.value >= left.first && chunk.value < left.first + left.count;
    });
    return end != left_.end() && end->wallNs > wallNs_;
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
