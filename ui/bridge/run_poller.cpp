#include "ui/bridge/run_poller.h"

#include "core/base/clock.h"
#include "core/run/folder/before_writing.h"
#include "core/run/status/checkpoints_left.h"

#include <algorithm>
#include <chrono>

namespace furrow {

namespace {

constexpr std::uint64_t kWorthCaching = 4u << 20;
constexpr int kMostRows = 20000; // of one kind in one look; the rest comes with the next ones

template <typename T> std::shared_ptr<const T> shared(T value) { return std::make_shared<const T>(std::move(value)); }

} // namespace

bool RunUpdate::empty() const
{
    return !isAnother && !status && !problem && !tables && !cells && !claims && !events && !logLines && !telemetry;
}

RunPoller::RunPoller(RunPaths paths)
    : paths_(std::move(paths))
    , log_(paths_.logsFolder())
    , telemetry_(paths_.telemetryFolder(), paths_.viewCacheFolder() / "columns.bin")
{
}

RunPoller::~RunPoller()
{
    if (!cacheStale_ || telemetry_.snapshot()->bytesRead <= kWorthCaching)
        return;
    if (beforeWritingInto(paths_).ok()) // a read-only folder has none; reading it anew is slower, not wrong
        (void)telemetry_.saveCache();
}

RunUpdate RunPoller::poll(const Wanted& wanted)
{
    const auto begin = std::chrono::steady_clock::now();
    RunUpdate update;
    if (wanted.status && isAnother()) {
        update.isAnother = true;
        cacheStale_ = false; // what was read is of the one before
        return update;
    }
    if (wanted.status) {
        auto status = readStatus(paths_);
        if (status.ok()) {
            if (const auto shown = shownEpochs(status.value()))
                openEpoch_ = shown->first;
            clockAheadNs_ = status.value().clockAheadNs;
            gone_.clear();
            for (const ChunkCell& cell : status.value().goneHolds)
                gone_[cell.id] = cell;
            update.status = shared(std::move(status).value());
        } else {
            update.problem = status.error();
            std::error_code unknown;
            update.isGone = !std::filesystem::exists(paths_.configFile(), unknown);
            if (update.isGone)
                return update; // what is still open is a file that has this name no longer
        }
    }
    if (wanted.views && openLedger(update)) {
        if (auto attempts = ledger_->attempts(); attempts.ok())
            for (AttemptTimes* times : { &claimTimes_, &eventTimes_ })
                times->know(attempts.value(), systemClock().wallNs() - clockAheadNs_);
        readCells(update, wanted.epoch.value_or(openEpoch_));
        markGone(update);
        readEvents(update);
        readClaims(update);
        if (wanted.status)
            readTables(update);
    }
    if (!wanted.views && wanted.epoch && *wanted.epoch != cellEpoch_
        && openLedger(update)) { // views are held at a moment, and another epoch is chosen there
        readCells(update, *wanted.epoch);
        markGone(update);
    }
    if (wanted.views) {
        auto lines = log_.poll();
        if (!lines.empty())
            update.logLines = shared(std::move(lines));
        readTelemetry(update);
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    update.lagMs = std::chrono::duration<double, std::milli>(took).count();
    return update;
}

/// A backup was put back, or another run moved here: what was read so far is of the one before.
bool RunPoller::isAnother()
{
    const auto changed = [](const std::filesystem::path& path, std::optional<FileIdentity>& seen) {
        const auto now = identityOf(path, Links::Follow);
        if (!now.ok() || !now.value()) // away
            return false;
        if (!seen)
            seen = now.value();
        return *seen != *now.value();
    };
    return changed(paths_.folder(), folderRead_) || changed(paths_.tracker(), trackerRead_);
}

bool RunPoller::openLedger(RunUpdate& update)
{
    // A snapshot is replaced by the next one, under the same name; what is read as of one moment is read anew.
    std::error_code absent;
    const auto file = readableLedger(paths_);
    const auto written
        = file == paths_.tracker() ? std::filesystem::file_time_type() : std::filesystem::last_write_time(file, absent);
    const bool goesOn = file != paths_.tracker() || (ledger_ && !ledger_->isOfOneMoment());
    if (ledger_ && goesOn && ledger_->standsInBecause().message.empty() && written == ledgerWritten_)
        return true;
    auto opened = furrow::openLedger(paths_);
    if (!opened.ok()) {
        update.problem = opened.error();
        return false;
    }
    ledger_.emplace(std::move(opened).value());
    ledgerWritten_ = written;
    return true;
}

void RunPoller::readCells(RunUpdate& update, std::int64_t epoch)
{
    if (epoch == cellEpoch_) {
        auto changed = ledger_->changedCells(epoch, cellSeq_);
        if (changed.ok() && !changed.value().empty())
            update.cells = shared(CellUpdate { epoch, false, std::move(changed).value() });
        return;
    }
    // The sequence is taken before the cells: what changes in between comes twice, never not at all.
    std::int64_t seq = eventSeq_;
    auto before = ledger_->changedCells(epoch, seq);
    auto all = ledger_->cells(epoch);
    if (!before.ok() || !all.ok())
        return;
    cellSeq_ = wholeSeq_ = seq;
    cellEpoch_ = epoch;
    goneSent_.clear(); // of the epoch before: its chunks are none of this one
    update.cells = shared(CellUpdate { epoch, true, std::move(all).value() });
}

// The ledger does not know that a process died before somebody has freed what it held: such chunks are sent again,
// marked.
void RunPoller::markGone(RunUpdate& update)
{
    const auto mark = [this](ChunkCell& cell) {
        const auto held = gone_.find(cell.id);
        cell.holderGone
            = held != gone_.end() && (cell.state == ChunkState::Leased || cell.state == ChunkState::Trained);
        cell.begun = cell.holderGone && held->second.begun;
    };
    CellUpdate cells = update.cells ? *update.cells : CellUpdate { cellEpoch_, false, {} };
    for (ChunkCell& cell : cells.cells)
        mark(cell);
    std::vector<ChunkCell> here;
    for (const auto& [id, cell] : gone_)
        if (placeOf(id).epoch == cellEpoch_)
            here.push_back(cell);
    const auto same = [](const ChunkCell& a, const ChunkCell& b) {
        return a.id == b.id && a.state == b.state && a.begun == b.begun;
    };
    if (!std::equal(here.begin(), here.end(), goneSent_.begin(), goneSent_.end(), same)) {
        for (const auto* some : { &here, &goneSent_ })
            for (const ChunkCell& held : *some)
                if (auto whole = ledger_->cell(held.id); whole.ok()) {
                    mark(whole.value());
                    cells.cells.push_back(whole.value());
                }
        goneSent_ = std::move(here);
    }
    if (update.cells || !cells.cells.empty())
        update.cells = shared(std::move(cells));
}

void RunPoller::readEvents(RunUpdate& update)
{
    auto events = ledger_->eventsSince(eventSeq_, kMostRows);
    if (!events.ok() || events.value().empty())
        return;
    eventSeq_ = events.value().back().seq;
    for (const EventRow& event : events.value()) {
        const bool hasLeft = weightsLeftBy(event).has_value();
        if (hasLeft || event.from == static_cast<int>(ChunkState::Committed)) {
            newestClaim_ = 0; // what old trainings came to is different now
            openClaims_.clear();
        }
        if (hasLeft && event.seq > wholeSeq_)
            cellEpoch_ = -1; // parts of chunks that are not committed leave without a move of these
    }
    std::map<std::int64_t, AttemptId> attemptOf;
    if (auto rows = ledger_->incarnations(); rows.ok())
        for (const IncarnationRow& row : rows.value())
            attemptOf[row.id.value] = row.attempt;
    for (EventRow& event : events.value()) // of the feeder and the supervisor nobody knows the attempt
        event.wallNs = eventTimes_.at(attemptOf[event.incarnation], event.wallNs, AttemptTimes::Writer::LaterOne);
    update.events = shared(std::move(events).value());
}

namespace {

void takeTimes(ClaimRow& claim, AttemptTimes& times)
{
    const bool isOwnEnd = claim.outcome == ClaimEnd::Trained || claim.outcome == ClaimEnd::Committed;
    claim.claimedWallNs = times.at(claim.attempt, claim.claimedWallNs);
    if (claim.startedWallNs != 0)
        claim.startedWallNs = std::max(claim.claimedWallNs, times.at(claim.attempt, claim.startedWallNs));
    if (claim.endedWallNs != 0)
        claim.endedWallNs = std::max({ claim.claimedWallNs, claim.startedWallNs,
            times.at(claim.attempt, claim.endedWallNs,
                isOwnEnd ? AttemptTimes::Writer::Itself : AttemptTimes::Writer::LaterOne) });
}

} // namespace

// A claim row changes after it was first seen (it ends), so reading starts before the oldest one that was still open.
void RunPoller::readClaims(RunUpdate& update)
{
    const std::int64_t from = openClaims_.empty() ? newestClaim_ : std::min(newestClaim_, openClaims_.front() - 1);
    auto claims = ledger_->claimsSince(from, kMostRows);
    if (!claims.ok() || claims.value().empty())
        return;
    std::vector<ClaimRow> news;
    std::vector<std::int64_t> open;
    for (ClaimRow& claim : claims.value()) {
        takeTimes(claim, claimTimes_);
        const bool wasOpen = std::binary_search(openClaims_.begin(), openClaims_.end(), claim.claimId);
        const bool isOpen = claim.outcome == ClaimEnd::Open || claim.outcome == ClaimEnd::Trained;
        if (isOpen)
            open.push_back(claim.claimId);
        if (wasOpen || claim.claimId > newestClaim_)
            news.push_back(claim);
    }
    newestClaim_ = std::max(newestClaim_, claims.value().back().claimId);
    openClaims_ = std::move(open);
    if (!news.empty())
        update.claims = shared(std::move(news));
}

void RunPoller::readTelemetry(RunUpdate& update)
{
    if (!cacheLoaded_) {
        cacheLoaded_ = true;
        (void)telemetry_.loadCache();
    }
    update.telemetryWaits = telemetry_.poll();
    if (telemetry_.takeChanged()) {
        update.telemetry = telemetry_.snapshot();
        cacheStale_ = true;
    }
}

void RunPoller::readTables(RunUpdate& update)
{
    LedgerTables tables;
    const auto take = [](auto result, auto& into) {
        if (!result.ok())
            return false;
        into = std::move(result).value();
        return true;
    };
    const bool complete = take(ledger_->attempts(), tables.attempts)
        && take(ledger_->incarnations(), tables.incarnations) && take(ledger_->checkpoints(), tables.checkpoints)
        && take(ledger_->replicas(), tables.replicas) && take(ledger_->totals(), tables.totals)
        && take(ledger_->activeStretches(), tables.active);
    if (!complete)
        return;
    (void)take(skippedChunks(ledger_->file()), tables.skipped);
    AttemptTimes times;
    times.know(tables.attempts, systemClock().wallNs() - clockAheadNs_);
    std::map<std::int64_t, AttemptId> attemptOf;
    for (const IncarnationRow& row : tables.incarnations)
        attemptOf[row.id.value] = row.attempt;
    for (auto& row : tables.checkpoints)
        if (const auto attempt = attemptOf.find(row.incarnation.value); attempt != attemptOf.end())
            row.wallNs = times.at(attempt->second, row.wallNs);
    update.tables = shared(std::move(tables));
}

} // namespace furrow
