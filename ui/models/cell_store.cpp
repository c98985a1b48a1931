#include "ui/models/cell_store.h"

#include "ui/bridge/run_watcher.h"

#include <algorithm>

namespace furrow {

CellStore::CellStore(RunWatcher& watcher, QObject* parent)
    : QObject(parent)
{
    connect(&watcher, &RunWatcher::cellsRead, this, &CellStore::take);
    connect(&watcher, &RunWatcher::opened, this, [this] {
        cells_.clear();
        moment_.clear();
        byId_.clear();
        epoch_ = 0;
        Q_EMIT reset();
    });
}

const ChunkCell* CellStore::find(ChunkId chunk) const
{
    const auto found = byId_.find(chunk.value);
    return found == byId_.end() ? nullptr : &cells()[found->second];
}

void CellStore::showMoment(std::vector<ChunkCell> cells)
{
    moment_ = std::move(cells);
    Q_EMIT reset();
}

void CellStore::showPresent()
{
    if (moment_.empty())
        return;
    moment_.clear();
    Q_EMIT reset();
}

std::ptrdiff_t CellStore::indexOf(ChunkId chunk) const
{
    const auto found = byId_.find(chunk.value);
    return found == byId_.end() ? -1 : static_cast<std::ptrdiff_t>(found->second);
}

void CellStore::take(const CellsPtr& update)
{
    if (update->reset) {
        cells_.clear();
        moment_.clear();
        byId_.clear();
    }
    epoch_ = update->epoch;
    for (const ChunkCell& cell : update->cells) {
        const auto [known, isNew] = byId_.try_emplace(cell.id.value, cells_.size());
        if (isNew)
            cells_.push_back(cell);
        else
            cells_[known->second] = cell;
        if (isNew && !moment_.empty())
            moment_.push_back({ cell.id, cell.block, cell.column });
    }
    if (!moment_.empty())
        return; // the past is shown and does not change
    if (update->reset)
        Q_EMIT reset();
    else
        Q_EMIT changed(update);
}

const ChunkCell* CellStore::findPresent(ChunkId chunk) const
{
    const std::ptrdiff_t at = indexOf(chunk);
    return at < 0 ? nullptr : &cells_[static_cast<std::size_t>(at)];
}

ClaimStore::ClaimStore(RunWatcher& watcher, QObject* parent)
    : QObject(parent)
{
    connect(&watcher, &RunWatcher::claimsRead, this, &ClaimStore::take);
    connect(&watcher, &RunWatcher::opened, this, [this] {
        claims_.clear();
        Q_EMIT changed();
    });
}

void ClaimStore::take(const ClaimsPtr& claims)
{
    for (const ClaimRow& claim : *claims) {
        const auto place = std::lower_bound(claims_.begin(), claims_.end(), claim.claimId,
            [](const ClaimRow& c, std::int64_t id) { return c.claimId < id; });
        if (place != claims_.end() && place->claimId == claim.claimId)
            *place = claim;
        else
            claims_.insert(place, claim);
    }
    Q_EMIT changed();
}

std::vector<ClaimRow> ClaimStore::claimsOf(ChunkId chunk) const
{
    std::vector<ClaimRow> found;
    std::copy_if(claims_.begin(), claims_.end(), std::back_inserter(found),
        [chunk](const ClaimRow& claim) { return claim.chunk == chunk; });
    return found;
}

} // namespace furrow
