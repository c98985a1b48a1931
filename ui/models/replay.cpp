#include "ui/models/replay.h"

#include "core/tracker/chunk_loss.h"
#include "ui/bridge/run_watcher.h"
#include "ui/models/cell_store.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_parts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace furrow {

namespace {

/// What was known of a training while it went on: its results came later.
ClaimRow whileOpen(ClaimRow claim)
{
    claim.endedWallNs = 0;
    claim.outcome = ClaimEnd::Open;
    claim.samples = claim.tokens = claim.firstStep = claim.lastStep = claim.checkpoint = 0;
    claim.meanLoss = claim.peakGradientNorm = 0;
    return claim;
}

/// The map goes to the epoch that was trained at the moment; another one can be chosen there until the moment changes.
void followEpoch(RunWatcher& watcher, std::int64_t shown, const std::optional<std::vector<std::int64_t>>& open)
{
    if (!open)
        watcher.setEpoch(std::nullopt);
    else if (!open->empty() && open->front() != shown)
        watcher.setEpoch(open->front());
}

} // namespace

Replay::Replay(RunWatcher& watcher, CellStore& cells, ClaimStore& claims, QObject* parent)
    : QObject(parent)
    , watcher_(watcher)
    , cells_(cells)
    , claims_(claims)
{
    connect(&watcher, &RunWatcher::eventsRead, this, &Replay::takeEvents);
    connect(&watcher, &RunWatcher::tablesRead, this, &Replay::findLeft);
    connect(&watcher, &RunWatcher::opened, this, [this] {
        moves_.clear();
        retreats_.clear();
        left_.clear();
        leftIsOf_ = {};
        pauses_.clear();
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
        else if (!moment_) // what stands still is a moment, and every view says which
            setMoment(end());
    });
}

void Replay::takeEvents(const EventsPtr& events)
{
    for (const EventRow& event : *events) {
        if (const auto retreat = weightsLeftBy(event))
            retreats_.push_back(*retreat);
        if (event.chunk.value == 0 && event.from != event.to)
            pauses_[event.wallNs] = static_cast<DesiredState>(event.to) == DesiredState::Pause;
        if (event.chunk.value != 0)
            moves_.push_back({ event.wallNs, event.chunk.value, static_cast<std::int32_t>(event.count),
                static_cast<std::int32_t>(event.incarnation), static_cast<std::int8_t>(event.from),
                static_cast<std::int8_t>(event.to) });
    }
    findLeft();
    Q_EMIT spanChanged();
}

void Replay::findLeft()
{
    if (!watcher_.tables())
        return;
    const auto& rows = watcher_.tables()->checkpoints;
    const auto gone = std::ranges::count(rows, false, &SupervisorLedger::CheckpointRow::surviving);
    const std::array<std::size_t, 3> of { retreats_.size(), rows.size(), static_cast<std::size_t>(gone) };
    if (of == leftIsOf_) // the tables come twice a second
        return;
    leftIsOf_ = of;
    left_ = checkpointsLeft(rows, retreats_);
}

namespace {

/// Claims by their chunks.
class NewestClaims {
public:
    explicit NewestClaims(const std::vector<ClaimRow>& claims)
    {
        for (const ClaimRow& claim : claims)
            byChunk_[claim.chunk.value].push_back(&claim);
    }
    /// The one of a chunk that was made last before a moment; null: none was.
    const ClaimRow* newestAt(std::int64_t chunk, std::int64_t wallNs) const
    {
        const ClaimRow* newest = nullptr;
        if (const auto found = byChunk_.find(chunk); found != byChunk_.end())
            for (const ClaimRow* claim : found->second) // ascending
                newest = claim->claimedWallNs <= wallNs ? claim : newest;
        return newest;
    }

private:
    std::unordered_map<std::int64_t, std::vector<const ClaimRow*>> byChunk_;
};

} // namespace

/// Chunks of a later epoch become known with it, whatever their state is: the event says "not prepared", and only what
/// happened to them next tells where they began.
void Replay::play(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const
{
    std::optional<NewestClaims> claims; // few moments need them, and there may be a million
    const auto isLost = [&](std::int64_t chunk, std::int64_t at) { // else it was given back, or a checkpoint has a part
        if (!claims)
            claims.emplace(claims_.claims());
        const ClaimRow* claim = claims->newestAt(chunk, at);
        return claim != nullptr && hasDied(*claim) && claim->startedWallNs != 0;
    };
    std::vector<bool> isOpened(cells.size(), false);
    std::int64_t opened = 0;
    bool isLater = false; // two processes may write a moment apart; what lies far behind is over
    for (const Move& move : moves_) {
        isLater = isLater || move.wallNs > wallNs;
        if (isLater && opened == 0)
            break;
        for (std::int64_t id = move.chunk; id < move.chunk + move.count; ++id) {
            const std::ptrdiff_t at = indexOf(id);
            if (at < 0) // of another epoch
                break;
            ChunkCell& cell = cells[static_cast<std::size_t>(at)];
            const bool wasOpened = isOpened[static_cast<std::size_t>(at)];
            if (isLater && !wasOpened)
                continue;
            const bool isNew = !isLater && move.from < 0;
            isOpened[static_cast<std::size_t>(at)] = isNew;
            opened += (isNew ? 1 : 0) - (wasOpened ? 1 : 0);
            if (isLater) {
                cell.state = static_cast<ChunkState>(move.from);
                continue;
            }
            const auto before = cell.state;
            cell.state = static_cast<ChunkState>(move.to);
            const bool wasHeld = before == ChunkState::Leased || before == ChunkState::Trained;
            const bool isUnclaimed = cell.state == ChunkState::Free || cell.state == ChunkState::Pending;
            const bool hasLeft = before == ChunkState::Committed; // with the checkpoint that had it
            if (isUnclaimed && (hasLeft || (wasHeld && isLost(id, move.wallNs))))
                ++cell.timesLost;
        }
    }
    for (std::size_t i = 0; i < cells.size(); ++i) { // nothing happened to it since
        const ChunkCell* now = isOpened[i] ? cells_.findPresent(cells[i].id) : nullptr;
        if (isOpened[i])
            cells[i].state = now == nullptr ? ChunkState::Free : now->state;
    }
}

namespace {

/// What checkpoints had of a training, and whether it was lost since: by the newest one that left a mark, as the ledger
/// tells it (ChunkCell::savedSinceLoss).
/// @param then  PartsThen::of()
void addParts(ChunkCell& cell, const ClaimRow& claim, const ClaimRow& then, std::int64_t wallNs)
{
    cell.covered = std::min(cell.windows, cell.covered + then.keptWindows);
    const bool hasEnded = claim.endedWallNs != 0 && claim.endedWallNs <= wallNs;
    const bool wasLost = (hasEnded && hasDied(claim)) || then.isLeftBehind;
    if (wasLost || then.keptWindows > 0)
        cell.savedSinceLoss = !wasLost;
    if (then.isLeftBehind) // it may not have been committed: then no move tells it
        cell.timesLost = std::max<std::int16_t>(1, cell.timesLost);
}

} // namespace

void Replay::addTrainings(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const
{
    const PartsThen parts(wallNs, watcher_.tables().get(), left_);
    std::unordered_map<std::int64_t, ChunkLoss> inParts; // by chunk
    for (const ClaimRow& claim : claims_.claims()) {
        const std::ptrdiff_t at = claim.claimedWallNs <= wallNs ? indexOf(claim.chunk.value) : -1;
        if (at < 0)
            continue;
        ChunkCell& cell = cells[static_cast<std::size_t>(at)];
        addParts(cell, claim, parts.of(claim), wallNs);
        const bool isOpen = claim.endedWallNs == 0 || claim.endedWallNs > wallNs;
        const bool isOnlyBegun = claim.startedWallNs != 0 && cell.timesTrained == 0;
        if (isOpen || claim.tokens > 0 || isOnlyBegun || cell.worker < 0) { // not who only held it and gave it back
            cell.worker = static_cast<std::int16_t>(claim.worker);
            cell.attempt = static_cast<std::int16_t>(claim.attempt.value);
        }
        if (isOpen)
            continue;
        if (claim.tokens == 0) // never finished
            continue;
        ++cell.timesTrained;
        if (claim.done.size() < cell.windows) {
            ChunkLoss& loss = inParts[claim.chunk.value];
            loss.add({ claim.done }, claim.tokens, claim.meanLoss * static_cast<double>(claim.tokens));
            cell.meanLoss = static_cast<float>(loss.mean().value_or(claim.meanLoss));
        } else {
            inParts.erase(claim.chunk.value);
            cell.meanLoss = static_cast<float>(claim.meanLoss);
        }
        cell.trainedWallNs = claim.endedWallNs;
    }
}

/// Nobody frees what dead processes hold before the next attempt begins: until then it is lost, or never begun.
void Replay::markGone(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const
{
    if (livedAt(wallNs))
        return;
    for (ChunkCell& cell : cells)
        cell.holderGone = cell.state == ChunkState::Leased || cell.state == ChunkState::Trained;
    for (const ClaimRow& claim : claims_.claims()) { // the last one is its holder's; when it died was found out later
        const std::ptrdiff_t at = claim.claimedWallNs <= wallNs ? indexOf(claim.chunk.value) : -1;
        if (at >= 0 && cells[static_cast<std::size_t>(at)].holderGone)
            cells[static_cast<std::size_t>(at)].begun = claim.startedWallNs != 0 && claim.startedWallNs <= wallNs;
    }
}

/// Chunks of which nothing is known but what never changes.
std::vector<ChunkCell> Replay::unseen(const std::vector<std::int64_t>& ids) const
{
    std::vector<ChunkCell> cells(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ChunkCell& cell = cells[i];
        cell.id = { ids[i] };
        cell.block = placeOf(cell.id).block;
        cell.column = placeOf(cell.id).column;
        cell.meanLoss = std::numeric_limits<float>::quiet_NaN();
        if (const ChunkCell* now = cells_.findPresent(cell.id)) {
            cell.windows = now->windows;
            cell.samples = now->samples;
            cell.tokens = now->tokens;
        }
    }
    return cells;
}

std::vector<ChunkCell> Replay::cellsAt(std::int64_t wallNs) const
{
    std::vector<std::int64_t> ids;
    ids.reserve(cells_.present().size());
    for (const ChunkCell& cell : cells_.present())
        ids.push_back(cell.id.value);
    std::vector<ChunkCell> cells = unseen(ids);
    const IndexOf indexOf = [this](std::int64_t chunk) { return cells_.indexOf({ chunk }); };
    play(cells, indexOf, wallNs);
    addTrainings(cells, indexOf, wallNs);
    markGone(cells, indexOf, wallNs);
    return cells;
}

std::vector<ChunkCell> Replay::cellsOf(std::int64_t epoch, std::int64_t wallNs) const
{
    if (epoch == cells_.epoch() && !cells_.present().empty())
        return cellsAt(wallNs);
    std::vector<std::int64_t> ids;
    for (const Move& move : moves_)
        if (move.from < 0 && placeOf({ move.chunk }).epoch == epoch)
            for (std::int64_t id = move.chunk; id < move.chunk + move.count; ++id)
                ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::vector<ChunkCell> cells = unseen(ids);
    const IndexOf indexOf = [&ids](std::int64_t chunk) -> std::ptrdiff_t {
        const auto found = std::lower_bound(ids.begin(), ids.end(), chunk);
        return found != ids.end() && *found == chunk ? found - ids.begin() : -1;
    };
    play(cells, indexOf, wallNs);
    addTrainings(cells, indexOf, wallNs);
    markGone(cells, indexOf, wallNs);
    return cells;
}

std::vector<std::int64_t> Replay::openEpochsAt(std::int64_t wallNs) const
{
    struct Chunks {
        std::int64_t all = 0;
        std::int64_t done = 0;
    };
    std::map<std::int64_t, Chunks> epochs;
    const auto isDone = [](int state) {
        const auto one = static_cast<ChunkState>(state);
        return one == ChunkState::Committed || one == ChunkState::Excluded || one == ChunkState::Accepted;
    };
    for (const Move& move : moves_) {
        if (move.wallNs > wallNs)
            break;
        Chunks& count = epochs[placeOf({ move.chunk }).epoch];
        count.all += move.from < 0 ? move.count : 0;
        count.done += (isDone(move.to) ? move.count : 0) - (move.from >= 0 && isDone(move.from) ? move.count : 0);
    }
    std::vector<std::int64_t> open;
    for (const auto& [epoch, count] : epochs)
        if (count.done < count.all)
            open.push_back(epoch);
    if (open.empty() && !epochs.empty())
        open.push_back(epochs.rbegin()->first);
    return open;
}

std::map<std::int64_t, bool> Replay::blocksAt(std::int64_t wallNs) const
{
    std::map<std::int64_t, bool> blocks;
    for (const Move& move : moves_) {
        if (move.wallNs > wallNs || move.from < 0) // two processes may write a moment apart
            continue;
        const auto from = static_cast<ChunkState>(move.from);
        const auto to = static_cast<ChunkState>(move.to);
        const std::int64_t block = placeOf({ move.chunk }).block;
        const bool hasNothingToTrain = from == ChunkState::Pending && to == ChunkState::Committed;
        if (to == ChunkState::Free || to == ChunkState::Leased || hasNothingToTrain)
            blocks[block] = true;
        else if (to == ChunkState::Pending)
            blocks[block] = false;
    }
    for (const std::int64_t epoch : openEpochsAt(wallNs)) // its chunks became known free where their block was there
        for (const ChunkCell& cell : cellsOf(epoch, wallNs)) {
            if (cell.state == ChunkState::Free)
                blocks[cell.block] = true;
            else if (const auto known = blocks.find(cell.block);
                known != blocks.end() && cell.state == ChunkState::Pending)
                known->second = false;
        }
    return blocks;
}

std::vector<ClaimRow> Replay::claimsOf(ChunkId chunk) const
{
    std::vector<ClaimRow> claims = claims_.claimsOf(chunk);
    if (!moment_)
        return claims;
    std::erase_if(claims, [this](const ClaimRow& claim) { return claim.claimedWallNs > *moment_; });
    const PartsThen parts(*moment_, watcher_.tables().get(), left_);
    for (ClaimRow& claim : claims) {
        claim = parts.of(std::move(claim));
        if (claim.outcome == ClaimEnd::Committed && claim.checkpoint == 0) // saved later
            claim.outcome = ClaimEnd::Trained;
        if (claim.startedWallNs > *moment_)
            claim.startedWallNs = 0;
        if (claim.endedWallNs > *moment_)
            claim = whileOpen(claim);
    }
    const ChunkCell* cell = cells_.find(chunk);
    if (!claims.empty() && claims.back().endedWallNs != 0 && cell != nullptr
        && cell->state == ChunkState::Trained) { // committed or lost later
        claims.back().outcome = ClaimEnd::Trained;
        claims.back().checkpoint = 0;
    }
    return claims;
}

std::int64_t Replay::end() const
{
    std::int64_t last = moves_.empty() ? 0 : moves_.back().wallNs;
    if (last == 0 || !watcher_.status() || !watcher_.tables())
        return last;
    for (const AttemptRow& attempt : watcher_.tables()->attempts)
        last = std::max(last, attempt.endedWallNs.value_or(0));
    return std::max(last, watcher_.status()->newestCheckpointWallNs);
}

bool Replay::pausedAt(std::int64_t wallNs) const
{
    const auto later = pauses_.upper_bound(wallNs);
    return later != pauses_.begin() && std::prev(later)->second;
}

bool Replay::livedAt(std::int64_t wallNs) const
{
    if (!watcher_.status() || !watcher_.tables())
        return true; // not known yet
    const TelemetrySnapshot* telemetry = watcher_.telemetry().get();
    const PastSources sources { *watcher_.status(), {}, left_, claims_.claims(), watcher_.tables().get(), telemetry };
    return isLiveAt(wallNs, sources);
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
    followEpoch(watcher_, cells_.epoch(), moment_ ? std::optional(openEpochsAt(*moment_)) : std::nullopt);
    if (moment_)
        cells_.showMoment(cellsAt(*moment_));
    else
        cells_.showPresent();
    Q_EMIT momentChanged();
}

} // namespace furrow
