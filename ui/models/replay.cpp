#include "ui/models/replay.h"

#include "ui/bridge/run_watcher.h"
#include "ui/models/cell_store.h"

#include <algorithm>
#include <limits>

namespace furrow {

namespace {

/// What was known of a training while it went on: its results came later.
ClaimRow whileOpen(ClaimRow claim)
{
    claim.endedWallNs = 0;
    claim.outcome = "open";
    claim.samples = claim.tokens = claim.firstStep = claim.lastStep = claim.checkpoint = 0;
    claim.meanLoss = claim.peakGradientNorm = 0;
    return claim;
}

/// The oldest epoch that was open at a moment, else the newest that had begun; -1: none had.
std::int64_t epochTrainedAt(const std::vector<EpochRow>& epochs, std::int64_t wallNs)
{
    std::int64_t newest = -1;
    for (const EpochRow& epoch : epochs) {
        if (epoch.openedWallNs > wallNs)
            break;
        if (!epoch.closedWallNs || *epoch.closedWallNs > wallNs)
            return epoch.epoch;
        newest = epoch.epoch;
    }
    return newest;
}

/// The map goes to the epoch that was trained at the moment; another one can be chosen there until the moment changes.
void followEpoch(RunWatcher& watcher, std::int64_t shown, std::optional<std::int64_t> moment)
{
    if (!moment) {
        watcher.setEpoch(std::nullopt);
        return;
    }
    const std::int64_t trained = watcher.status() ? epochTrainedAt(watcher.status()->epochs, *moment) : -1;
    if (trained >= 0 && trained != shown)
        watcher.setEpoch(trained);
}

} // namespace

Replay::Replay(RunWatcher& watcher, CellStore& cells, ClaimStore& claims, QObject* parent)
    : QObject(parent)
    , watcher_(watcher)
    , cells_(cells)
    , claims_(claims)
{
    connect(&watcher, &RunWatcher::eventsRead, this, &Replay::takeEvents);
    connect(&watcher, &RunWatcher::opened, this, [this] {
        moves_.clear();
        moment_.reset(); // the views were emptied
        Q_EMIT momentChanged();
        Q_EMIT spanChanged();
    });
    connect(&cells, &CellStore::reset, this, [this] { // another epoch was chosen: its present came
        if (moment_ && !cells_.present().empty() && &cells_.cells() == &cells_.present())
            cells_.showMoment(cellsAt(*moment_));
    });
    connect(&watcher, &RunWatcher::heldChanged, this, [this](bool held) {
        if (!held)
            setMoment(std::nullopt);
    });
}

void Replay::takeEvents(const EventsPtr& events)
{
    for (const EventRow& event : *events) {
        if (event.chunk.value != 0)
            moves_.push_back({ event.wallNs, event.chunk.value, static_cast<std::int32_t>(event.count),
                static_cast<std::int32_t>(event.incarnation), static_cast<std::int8_t>(event.from),
                static_cast<std::int8_t>(event.to) });
    }
    Q_EMIT spanChanged();
}

void Replay::apply(std::vector<ChunkCell>& cells, const Move& move) const
{
    for (std::int64_t id = move.chunk; id < move.chunk + move.count; ++id) {
        const std::ptrdiff_t at = cells_.indexOf({ id });
        if (at < 0) // of another epoch
            return;
        ChunkCell& cell = cells[static_cast<std::size_t>(at)];
        const auto before = cell.state;
        cell.state = static_cast<ChunkState>(move.to);
        if (before == ChunkState::Trained && cell.state == ChunkState::Free)
            ++cell.timesLost;
    }
}

std::vector<ChunkCell> Replay::cellsAt(std::int64_t wallNs) const
{
    std::vector<ChunkCell> cells = cells_.present();
    for (ChunkCell& cell : cells) {
        const ChunkCell known = cell;
        cell = {};
        cell.id = known.id;
        cell.block = known.block;
        cell.column = known.column;
        cell.meanLoss = std::numeric_limits<float>::quiet_NaN();
    }
    for (const Move& move : moves_) {
        if (move.wallNs > wallNs) // two processes may write a moment apart; what lies far behind is over
            break;
        apply(cells, move);
    }
    for (const ClaimRow& claim : claims_.claims()) {
        const std::ptrdiff_t at = claim.claimedWallNs <= wallNs ? cells_.indexOf(claim.chunk) : -1;
        if (at < 0)
            continue;
        ChunkCell& cell = cells[static_cast<std::size_t>(at)];
        cell.worker = static_cast<std::int16_t>(claim.worker);
        cell.attempt = static_cast<std::int16_t>(claim.attempt.value);
        if (claim.endedWallNs == 0 || claim.endedWallNs > wallNs || claim.tokens == 0)
            continue;
        ++cell.timesTrained;
        cell.meanLoss = static_cast<float>(claim.meanLoss);
        cell.trainedWallNs = claim.endedWallNs;
    }
    return cells;
}

std::vector<ClaimRow> Replay::claimsOf(ChunkId chunk) const
{
    std::vector<ClaimRow> claims = claims_.claimsOf(chunk);
    if (!moment_)
        return claims;
    std::erase_if(claims, [this](const ClaimRow& claim) { return claim.claimedWallNs > *moment_; });
    for (ClaimRow& claim : claims) {
        if (claim.startedWallNs > *moment_)
            claim.startedWallNs = 0;
        if (claim.endedWallNs > *moment_)
            claim = whileOpen(claim);
    }
    const ChunkCell* cell = cells_.find(chunk);
    if (!claims.empty() && claims.back().endedWallNs != 0 && cell != nullptr
        && cell->state == ChunkState::Trained) { // committed or lost later
        claims.back().outcome = "trained";
        claims.back().checkpoint = 0;
    }
    return claims;
}

void Replay::setMoment(std::optional<std::int64_t> wallNs)
{
    if (wallNs && moves_.empty())
        return;
    if (wallNs)
        wallNs = std::clamp(*wallNs, begin(), end());
    if (wallNs == moment_)
        return;
    moment_ = wallNs;
    if (moment_)
        watcher_.setHeld(true); // the present must not write over the past
    watcher_.showMoment(moment_);
    followEpoch(watcher_, cells_.epoch(), moment_);
    if (moment_)
        cells_.showMoment(cellsAt(*moment_));
    else
        cells_.showPresent();
    Q_EMIT momentChanged();
}

} // namespace furrow
