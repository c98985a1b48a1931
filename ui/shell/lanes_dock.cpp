#include "ui/shell/lanes_dock.h"

#include "core/base/clock.h"
#include "core/tracker/worker_ends.h"
#include "ui/models/core_words.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_trainings.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/lane_legend.h"
#include "ui/widgets/lane_view.h"

#include <QComboBox>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace furrow {

namespace {

constexpr int kBeatMs = 500;
constexpr double kLeastSpan = 20; // [s]
constexpr std::size_t kMostClaimsPerLane = 4000;

double seconds(std::int64_t wallNs) { return static_cast<double>(wallNs) * 1e-9; }

using LastSigns = std::map<std::int64_t, std::int64_t>; // of attempts without a record [ns]

/// What was found dead by the next attempt ended when its own was last heard of, not when it was found.
std::int64_t whenItEnded(std::int64_t noticedNs, AttemptId attempt, const LastSigns& signs)
{
    const auto sign = signs.find(attempt.value);
    return sign == signs.end() || noticedNs == 0 ? noticedNs : std::min(noticedNs, sign->second);
}

/// What a process that is gone holds is lost, also before the next attempt frees it.
bool isLost(const ClaimRow& claim, const std::set<ChunkId>& gone)
{
    const bool isHeld = claim.outcome == ClaimEnd::Open || claim.outcome == ClaimEnd::Trained;
    return claim.outcome == ClaimEnd::Lost || (isHeld && gone.contains(claim.chunk));
}

/// 0: its training goes on. One that ended with its process, and was not freed yet, ended when that was last heard of.
std::int64_t endOf(const ClaimRow& claim, const LastSigns& signs, const std::set<ChunkId>& gone)
{
    if (claim.endedWallNs != 0)
        return std::max(claim.claimedWallNs, whenItEnded(claim.endedWallNs, claim.attempt, signs));
    if (!gone.contains(claim.chunk))
        return 0;
    const auto sign = signs.find(claim.attempt.value);
    return std::max(claim.claimedWallNs, sign == signs.end() ? 0 : sign->second);
}

/// What the lanes are made of, as it is known, or was at the moment that is replayed.
struct KnownWork {
    std::vector<ClaimRow> claims; ///< the newest of each worker
    std::vector<IncarnationRow> processes;
    std::set<ChunkId> gone; ///< what processes hold that are gone
    LastSigns signs;
};

/// What each worker had claimed last by a moment, oldest first: no lane has room for more.
std::vector<ClaimRow> newestClaims(const std::vector<ClaimRow>& claims, std::int64_t untilNs)
{
    std::map<int, std::size_t> perWorker;
    std::vector<ClaimRow> newest;
    for (auto claim = claims.rbegin(); claim != claims.rend(); ++claim)
        if (claim->claimedWallNs <= untilNs && ++perWorker[claim->worker] <= kMostClaimsPerLane)
            newest.push_back(*claim);
    std::reverse(newest.begin(), newest.end());
    return newest;
}

/// As it stood at a moment: what ended later still went on, and what was lost later was there.
void takeBack(ClaimRow& claim, std::int64_t wallNs, const std::function<bool(const ClaimRow&)>& wasLost)
{
    if (claim.startedWallNs > wallNs)
        claim.startedWallNs = 0;
    if (claim.outcome == ClaimEnd::Lost && wasLost(claim))
        return;
    if (claim.endedWallNs > wallNs || isCutShort(claim)) {
        claim.endedWallNs = 0;
        claim.outcome = ClaimEnd::Open;
    } else if (claim.outcome == ClaimEnd::Lost) {
        claim.outcome = ClaimEnd::Trained;
    }
}

/// Nobody knew yet how those had ended that died with their supervisor, only that it had been heard of last.
void endWithTheirAttempts(std::vector<IncarnationRow>& processes, const RunStatus& shown, const LastSigns& signs)
{
    for (IncarnationRow& row : processes) {
        const bool isOver = row.attempt.value < shown.attempt || !isUnderWay(shown.state);
        const auto sign = signs.find(row.attempt.value);
        if (!row.live || !isOver || sign == signs.end())
            continue;
        row.live = false;
        row.endedWallNs = sign->second;
    }
}

KnownWork knownWork(Workbench& bench)
{
    const auto& watcher = bench.watcher();
    const auto& claims = bench.claims().claims();
    const auto moment = bench.replay().moment();
    KnownWork known { newestClaims(claims, moment.value_or(std::numeric_limits<std::int64_t>::max())), {}, {}, {} };
    const StatusPtr shown = shownStatus(bench);
    if (!shown)
        return known;
    for (const ChunkCell& cell : shown->goneHolds)
        known.gone.insert(cell.id);
    if (!watcher.tables())
        return known;
    const PastSources sources { *watcher.status(), {}, bench.replay().left(), claims, watcher.tables().get(),
        watcher.telemetry().get() };
    known.signs = lastSigns(sources);
    known.processes = moment ? processesAt(*moment, sources) : watcher.tables()->incarnations;
    if (!moment)
        return known;
    endWithTheirAttempts(known.processes, *shown, known.signs);
    const auto wasLost = lostBy(*moment, *shown, sources);
    for (ClaimRow& claim : known.claims)
        takeBack(claim, *moment, wasLost);
    return known;
}

void addClaims(std::map<int, Lane>& lanes, const KnownWork& known)
{
    for (const ClaimRow& claim : known.claims) {
        Lane& lane = lanes[claim.worker];
        lane.worker = claim.worker;
        lane.claims.push_back({ claim.chunk.value, chunkShort(claim.block, claim.column), seconds(claim.claimedWallNs),
            seconds(claim.startedWallNs), seconds(endOf(claim, known.signs, known.gone)), isLost(claim, known.gone) });
    }
}

void addProcesses(std::map<int, Lane>& lanes, const KnownWork& known)
{
    for (const IncarnationRow& row : known.processes) {
        if (row.worker == kNoWorker)
            continue; // a merge task claims nothing
        Lane& lane = lanes[row.worker];
        lane.worker = row.worker;
        const QString device = QString::fromStdString(row.deviceName.empty() ? row.device : row.deviceName);
        lane.detail = device;
        if (!lane.deaths.empty() && lane.deaths.back().restarted == 0)
            lane.deaths.back().restarted = seconds(row.startedWallNs);
        if (row.live || row.endedWallNs == 0)
            continue;
        const std::int64_t endedNs = whenItEnded(row.endedWallNs, row.attempt, known.signs);
        const QString label = isEndInOrder(row.endCause)
            ? QString()
            : QStringLiteral("%2: %1").arg(coreWords(row.endCause), wallTimeText(endedNs));
        lane.deaths.push_back({ seconds(endedNs), label, 0 });
    }
}

void addCommits(std::map<int, Lane>& lanes, const KnownWork& known, const LedgerTables& tables, std::int64_t untilNs)
{
    std::map<int, int> replicaOf;
    for (const IncarnationRow& row : known.processes)
        if (row.worker != kNoWorker)
            replicaOf[row.replica] = row.worker;
    for (const auto& checkpoint : tables.checkpoints)
        if (const auto worker = replicaOf.find(checkpoint.record.replica);
            worker != replicaOf.end() && checkpoint.wallNs <= untilNs)
            lanes[worker->second].commits.push_back(seconds(checkpoint.wallNs));
}

/// How fast a worker trains now; of one that did not say how it ended, as it may be while nobody can read the run, how
/// fast it was.
void addSpeeds(std::map<int, Lane>& lanes, const LedgerTables& tables, const RunStatus& status)
{
    for (const WorkerStatus& worker : status.workers) {
        const auto lane = lanes.find(worker.worker);
        const auto row = std::find_if(tables.incarnations.rbegin(), tables.incarnations.rend(),
            [&worker](const IncarnationRow& one) { return one.worker == worker.worker; });
        if (lane == lanes.end() || row == tables.incarnations.rend() || !row->live)
            continue;
        const QString speed = worker.alive ? rateText(worker.tokensPerSecond)
                                           : LanesDock::tr("was %1").arg(rateText(row->tokensPerSecond));
        lane->second.detail = QStringLiteral("%1, %2").arg(lane->second.detail, speed);
    }
}

} // namespace

std::vector<Lane> shownLanes(Workbench& bench)
{
    const TablesPtr& tables = bench.watcher().tables();
    const auto moment = bench.replay().moment();
    const KnownWork known = knownWork(bench);
    std::map<int, Lane> byWorker;
    addClaims(byWorker, known);
    addProcesses(byWorker, known);
    if (tables)
        addCommits(byWorker, known, *tables, moment.value_or(std::numeric_limits<std::int64_t>::max()));
    if (const StatusPtr present = presentStatus(bench); present && tables && !moment) // nobody kept speeds
        addSpeeds(byWorker, *tables, *present);
    std::vector<Lane> lanes;
    for (auto& [worker, lane] : byWorker) {
        lane.name = LanesDock::tr("Worker %1").arg(worker);
        lanes.push_back(std::move(lane));
    }
    return lanes;
}

LanesDock::LanesDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , lanes_(new LaneView(this))
    , empty_(new EmptyState(tr("No chunk was claimed yet.")))
    , stack_(new QStackedWidget(this))
    , span_(new QComboBox(this))
    , timer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 0, 12, 0);
    row->addWidget(new LaneLegend(this), 1);
    span_->setAccessibleName(tr("Time range"));
    for (const int minutes : { 1, 10, 60, 600 })
        span_->addItem(
            minutes < 60 ? tr("Last %n minute(s)", nullptr, minutes) : tr("Last %n hour(s)", nullptr, minutes / 60),
            minutes * 60);
    span_->setCurrentIndex(1);
    span_->setProperty("compact", true);
    row->addWidget(span_);
    column->addLayout(row);
    stack_->addWidget(empty_);
    stack_->addWidget(lanes_);
    column->addWidget(stack_, 1);
    timer_->setInterval(kBeatMs);
    connect(timer_, &QTimer::timeout, this, [this] {
        if (isVisible())
            showNow();
    });
    timer_->start();
    const auto markStale = [this] { stale_ = true; };
    connect(&bench_.claims(), &ClaimStore::changed, this, markStale);
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, markStale);
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, markStale);
    connect(span_, &QComboBox::currentIndexChanged, this, &LanesDock::follow);
    connect(&bench_.replay(), &Replay::momentChanged, this, &LanesDock::takeMoment);
    connect(lanes_, &LaneView::chunkClicked, this, [this](std::int64_t chunk, int worker) {
        if (const ChunkCell* cell = bench_.cells().find({ chunk }))
            bench_.selection().setChunks({ { cell->id, cell->block, cell->column } });
        else
            bench_.selection().setWorker(worker);
    });
    connect(&bench_.selection(), &SelectionModel::changed, this, [this] {
        const auto& chunks = bench_.selection().selection().chunks;
        lanes_->setHighlighted(chunks.empty() ? 0 : chunks.front().id.value);
    });
}

void LanesDock::takeMoment()
{
    stale_ = true;
    if (isVisible())
        showNow();
}

/// It rests while nobody sees it.
void LanesDock::showEvent(QShowEvent* event)
{
    showNow();
    QWidget::showEvent(event);
}

void LanesDock::showNow()
{
    if (stale_)
        rebuild();
    follow();
}

void LanesDock::rebuild()
{
    stale_ = false;
    const auto lanes = std::make_shared<const std::vector<Lane>>(shownLanes(bench_));
    newest_ = 0;
    oldest_ = std::numeric_limits<double>::max();
    for (const Lane& lane : *lanes) {
        for (const LaneClaim& claim : lane.claims)
            newest_ = std::max({ newest_, claim.claimed, claim.started, claim.ended });
        if (!lane.claims.empty())
            oldest_ = std::min(oldest_, lane.claims.front().claimed);
    }
    stack_->setCurrentWidget(lanes->empty() ? static_cast<QWidget*>(empty_) : lanes_);
    lanes_->setLanes(lanes);
}

// A living run ends at the present; the lanes of one that stands still end where its last chunk did.
void LanesDock::follow()
{
    const StatusPtr& status = bench_.watcher().status();
    const bool live = status && status->supervised && !bench_.watcher().isHeld() && bench_.watcher().problem().empty();
    const auto moment = bench_.replay().moment();
    if (bench_.watcher().isHeld() && !moment)
        return;
    const std::int64_t now = status ? nowOfRun(*status) : systemClock().wallNs();
    const double end = moment ? seconds(*moment) : live || newest_ == 0 ? seconds(now) : newest_ + 1;
    const double span = span_->currentData().toInt();
    const double known = std::max(kLeastSpan, (end - oldest_) * 1.02); // a short run fills its lanes
    lanes_->setRange(end - std::min(span, known), end, live);
}

} // namespace furrow
