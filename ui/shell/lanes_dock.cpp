#include "ui/shell/lanes_dock.h"

#include "core/base/clock.h"
#include "core/tracker/worker_ends.h"
#include "ui/models/core_words.h"
#include "ui/models/past_status.h"
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

void addClaims(std::map<int, Lane>& lanes, const std::vector<ClaimRow>& claims, const LastSigns& signs,
    const std::set<ChunkId>& gone)
{
    for (const ClaimRow& claim : claims) {
        Lane& lane = lanes[claim.worker];
        lane.worker = claim.worker;
        lane.claims.push_back({ claim.chunk.value, chunkShort(claim.block, claim.column), seconds(claim.claimedWallNs),
            seconds(claim.startedWallNs), seconds(endOf(claim, signs, gone)), isLost(claim, gone) });
    }
    for (auto& [worker, lane] : lanes) {
        if (lane.claims.size() > kMostClaimsPerLane)
            lane.claims.erase(lane.claims.begin(), lane.claims.end() - kMostClaimsPerLane);
    }
}

void addProcesses(std::map<int, Lane>& lanes, const LedgerTables& tables, const LastSigns& signs)
{
    std::map<int, int> replicaOf;
    for (const IncarnationRow& row : tables.incarnations) {
        if (row.worker == kNoWorker)
            continue; // a merge task claims nothing
        Lane& lane = lanes[row.worker];
        lane.worker = row.worker;
        replicaOf[row.replica] = row.worker;
        const QString device = QString::fromStdString(row.deviceName.empty() ? row.device : row.deviceName);
        lane.detail = device;
        if (!lane.deaths.empty() && lane.deaths.back().restarted == 0)
            lane.deaths.back().restarted = seconds(row.startedWallNs);
        if (row.live || row.endedWallNs == 0)
            continue;
        const std::int64_t endedNs = whenItEnded(row.endedWallNs, row.attempt, signs);
        const QString label = isEndInOrder(row.endCause)
            ? QString()
            : QStringLiteral("%2: %1").arg(coreWords(row.endCause), wallTimeText(endedNs));
        lane.deaths.push_back({ seconds(endedNs), label, 0 });
    }
    for (const auto& checkpoint : tables.checkpoints) {
        const auto worker = replicaOf.find(checkpoint.record.replica);
        if (worker != replicaOf.end())
            lanes[worker->second].commits.push_back(seconds(checkpoint.wallNs));
    }
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
    stale_ = stale_ || isPast_ != bench_.replay().moment().has_value(); // speeds are of the present
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
    isPast_ = bench_.replay().moment().has_value();
    std::map<int, Lane> byWorker;
    const auto& watcher = bench_.watcher();
    const LastSigns signs = watcher.status() && watcher.tables()
        ? lastSigns({ *watcher.status(), {}, bench_.replay().left(), bench_.claims().claims(), watcher.tables().get(),
              watcher.telemetry().get() })
        : LastSigns {};
    std::set<ChunkId> gone;
    for (const ChunkCell& cell : watcher.status() ? watcher.status()->goneHolds : std::vector<ChunkCell> {})
        gone.insert(cell.id);
    addClaims(byWorker, bench_.claims().claims(), signs, gone);
    if (watcher.tables())
        addProcesses(byWorker, *watcher.tables(), signs);
    if (const StatusPtr known = presentStatus(bench_); known && watcher.tables() && !isPast_)
        addSpeeds(byWorker, *watcher.tables(), *known);
    auto lanes = std::make_shared<std::vector<Lane>>();
    newest_ = 0;
    oldest_ = std::numeric_limits<double>::max();
    for (auto& [worker, lane] : byWorker) {
        lane.name = tr("Worker %1").arg(worker);
        for (const LaneClaim& claim : lane.claims)
            newest_ = std::max({ newest_, claim.claimed, claim.started, claim.ended });
        if (!lane.claims.empty())
            oldest_ = std::min(oldest_, lane.claims.front().claimed);
        lanes->push_back(std::move(lane));
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
