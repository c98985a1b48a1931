#include "ui/bridge/workspace_scanner.h"

#include "core/base/path.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/run_status.h"
#include "core/workspace/queue_runner.h"
#include "core/workspace/run_folders.h"

#include <QRegularExpression>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

namespace furrow {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kSparklinePoints = 48;
constexpr std::int64_t kMostSparklineChunks = 200'000; // reading more cells for a picture 48 px wide is not worth it
constexpr auto kSparklineAge = 5s;
constexpr auto kScanEvery = 1s;
constexpr auto kScanPerRun = 500us; // a workspace of thousands is looked at less often
constexpr int kRestingFactor = 10;
constexpr auto kPublishEvery = 150ms;
constexpr std::size_t kBatch = 64; // runs between two looks at the clock

std::vector<double> lossesInOrder(LedgerReader& ledger, const ShownEpochs& epochs)
{
    std::vector<ChunkCell> trained;
    for (std::int64_t epoch = epochs.first; epoch <= epochs.last; ++epoch) {
        auto cells = ledger.cells(epoch);
        if (!cells.ok())
            return {};
        std::copy_if(cells.value().begin(), cells.value().end(), std::back_inserter(trained),
            [](const ChunkCell& cell) { return cell.trainedWallNs != 0 && std::isfinite(cell.meanLoss); });
    }
    std::sort(trained.begin(), trained.end(),
        [](const ChunkCell& a, const ChunkCell& b) { return a.trainedWallNs < b.trainedWallNs; });
    std::vector<double> points;
    const std::size_t perPoint = std::max<std::size_t>(1, (trained.size() + kSparklinePoints - 1) / kSparklinePoints);
    for (std::size_t begin = 0; begin < trained.size(); begin += perPoint) {
        const std::size_t end = std::min(begin + perPoint, trained.size());
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i)
            sum += trained[i].meanLoss;
        points.push_back(sum / static_cast<double>(end - begin));
    }
    return points;
}

/// What must change on disk before a run that is not alive has to be read again.
struct Stamp {
    fs::file_time_type tracker;
    fs::file_time_type wal;
    fs::file_time_type mark; ///< of a person who says that the run is finished
    bool operator==(const Stamp&) const = default;
};

Stamp stampOf(const RunPaths& paths)
{
    std::error_code failed;
    Stamp stamp;
    stamp.tracker = fs::last_write_time(paths.tracker(), failed);
    fs::path wal = paths.tracker();
    wal += "-wal";
    stamp.wal = fs::last_write_time(wal, failed);
    stamp.mark = fs::last_write_time(paths.finishedMark(), failed);
    return stamp;
}

/// Its processes end after another, whoever ended the first.
bool mayChangeByItself(const RunLine& line)
{
    return isUnderWay(line.state) || line.state == RunState::Unknown || line.workersAlive > 0;
}

struct Known {
    Stamp stamp;
    RunLine line;
    std::chrono::steady_clock::time_point sparklineRead;
};

/// Those of the workspace and the ones that were opened from elsewhere, each once.
std::vector<fs::path> allFolders(const fs::path& workspace, const std::vector<fs::path>& extra)
{
    std::vector<fs::path> folders = workspace.empty() ? std::vector<fs::path> {} : runFolders(workspace);
    folders.insert(folders.end(), extra.begin(), extra.end());
    std::sort(folders.begin(), folders.end());
    folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
    return folders;
}

void refreshOne(const fs::path& folder, Known& known, bool isNew)
{
    const Stamp stamp = stampOf(RunPaths(folder));
    if (!isNew && stamp == known.stamp && !mayChangeByItself(known.line))
        return;
    const auto now = std::chrono::steady_clock::now();
    const bool sparkline = isNew || (stamp != known.stamp && now - known.sparklineRead > kSparklineAge);
    RunLine line = readRunLine(folder, sparkline);
    if (sparkline)
        known.sparklineRead = now;
    else {
        line.sparkline = known.line.sparkline;
        line.paces = known.line.paces; // they read the claims too
    }
    for (auto config : { &RunLine::config, &RunLine::changed })
        if (line.*config && known.line.*config && *(line.*config) == *(known.line.*config))
            line.*config = known.line.*config;
    line.notes = known.line.notes;
    known.line = std::move(line);
    known.stamp = stamp;
}

/// Most of the time of a first look goes into opening ledgers, each on its own: two threads share the work.
void refreshBatch(std::span<const fs::path> folders, std::map<fs::path, Known>& known)
{
    struct Job {
        const fs::path* folder;
        Known* run;
        bool isNew;
    };
    std::vector<Job> jobs;
    for (const fs::path& folder : folders) {
        const auto [run, isNew] = known.try_emplace(folder);
        jobs.push_back({ &folder, &run->second, isNew });
    }
    std::atomic<std::size_t> next = 0;
    const auto work = [&jobs, &next] {
        for (std::size_t i = next++; i < jobs.size(); i = next++)
            refreshOne(*jobs[i].folder, *jobs[i].run, jobs[i].isNew);
    };
    const bool isLarge = jobs.size() == kBatch && jobs.front().isNew;
    const std::jthread second = isLarge ? std::jthread(work) : std::jthread();
    work();
}

QString folderName(const RunLine& line)
{
    return QString::fromStdString(utf8Text(pathFromUtf8(line.folder.toStdString()).filename()));
}

/// Of a folder that Furrow named, "2026-03-13-char-7c1e", the end.
QString endOfFolderName(const RunLine& line)
{
    static const QRegularExpression kMade(QStringLiteral("^\\d{4}-\\d\\d-\\d\\d-.*-([0-9a-f]{4})$"));
    const QString name = folderName(line);
    const auto made = kMade.match(name);
    return made.hasMatch() ? made.captured(1) : name;
}

/// A copied folder has the id of the run that it was copied from.
void findCopies(RunLines& lines)
{
    std::map<QString, RunLine*> byId;
    for (RunLine& line : lines) {
        const auto [twin, isNew] = byId.try_emplace(line.runId, &line);
        if (isNew || line.runId.isEmpty())
            continue;
        line.twin = folderName(*twin->second);
        twin->second->twin = folderName(line);
    }
}

/// Runs of one name, copies or not, get what tells them apart, as short as it goes.
void tellApart(RunLines& lines)
{
    using Part = QString (*)(const RunLine&);
    constexpr Part kParts[] = { endOfFolderName, folderName, [](const RunLine& line) { return QString(line.folder); } };
    std::map<QString, std::vector<RunLine*>> byName;
    for (RunLine& line : lines)
        byName[line.name].push_back(&line);
    for (const auto& [name, same] : byName) {
        if (same.size() < 2)
            continue;
        const auto* part = std::find_if(std::begin(kParts), std::end(kParts), [&same = same](Part candidate) {
            std::set<QString> parts;
            for (const RunLine* line : same)
                parts.insert(candidate(*line));
            return parts.size() == same.size();
        });
        for (RunLine* line : same)
            line->name = QStringLiteral("%1 (%2)").arg(name, part == std::end(kParts) ? line->folder : (*part)(*line));
    }
}

RunLines newestFirst(const std::map<fs::path, Known>& known)
{
    RunLines lines;
    for (const auto& [folder, run] : known)
        lines.push_back(run.line);
    std::stable_sort(lines.begin(), lines.end(),
        [](const RunLine& a, const RunLine& b) { return a.createdWallNs > b.createdWallNs; });
    findCopies(lines);
    tellApart(lines);
    return lines;
}

/// What is beside the runs. A workspace that nobody wrote to has no file, and looking makes none.
struct WorkspaceView {
    std::map<std::string, RunNotes> notes;
    QueueView queue;
};

WorkspaceView readWorkspace(const fs::path& workspace)
{
    WorkspaceView view;
    std::error_code failed;
    if (workspace.empty() || !fs::exists(workspace / "library.sqlite", failed))
        return view;
    auto file = WorkspaceFile::open(workspace);
    if (!file.ok())
        return view;
    if (auto notes = file.value().notes(); notes.ok())
        view.notes = std::move(notes).value();
    if (auto entries = queueNow(file.value()); entries.ok())
        view.queue.entries = std::move(entries).value();
    if (auto paused = file.value().isQueuePaused(); paused.ok())
        view.queue.paused = paused.value();
    view.queue.active = isQueueRun(workspace);
    const auto canRun = checkQueueCanRun(workspace);
    view.queue.cannotRun = canRun.ok() ? whatHoldsQueueUp(workspace) : canRun.error().message;
    return view;
}

void takeNotes(
    std::map<fs::path, Known>& known, const std::map<std::string, RunNotes>& notes, const fs::path& workspace)
{
    for (auto& [folder, run] : known) {
        const auto found = notes.find(noteKey(workspace, folder));
        run.line.notes = found == notes.end() ? RunNotes {} : found->second;
    }
}

bool sameLines(const RunLines& a, const RunLines& b)
{
    // NaN losses would make equal lists differ for ever.
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](RunLine x, RunLine y) {
        for (double RunLine::* loss : { &RunLine::loss, &RunLine::evalLoss }) {
            if (std::isnan(x.*loss) && std::isnan(y.*loss))
                x.*loss = y.*loss = 0;
        }
        return x == y;
    });
}

} // namespace

RunLine readRunLine(const fs::path& folder, bool sparkline)
{
    RunLine line;
    line.folder = QString::fromStdString(utf8Text(folder));
    line.name = QString::fromStdString(utf8Text(folder.filename()));
    line.loss = line.evalLoss = std::numeric_limits<double>::quiet_NaN();
    const RunPaths paths(folder);
    auto ledger = openLedger(paths);
    auto read = ledger.ok() ? readStatus(paths, ledger.value()) : readStatus(paths);
    if (!read.ok()) {
        line.problem = read.error().message;
        return line;
    }
    const RunStatus& status = read.value();
    if (!status.file.config.name.empty())
        line.name = QString::fromStdString(status.file.config.name);
    line.runId = QString::fromStdString(status.file.runId);
    line.state = status.state;
    line.stopReason = status.stopReason;
    line.markedByHand = status.markedByHand;
    line.stopDetail = saidOfItsEnd(status);
    line.attempt = status.attempt;
    line.createdWallNs = status.file.createdWallNs;
    line.workersAlive = static_cast<int>(
        std::count_if(status.workers.begin(), status.workers.end(), [](const WorkerStatus& w) { return w.alive; }));
    line.loss = status.loss;
    line.lossWorkers = status.lossWorkers;
    line.lossIsGone = status.lossIsGone;
    line.hindrance = status.hindrance ? status.hindrance->words : Message();
    line.tokensPerSecond = status.tokensPerSecond;
    line.meanTokensPerSecond = meanTokensPerSecond(status);
    line.preset = QString::fromStdString(status.file.preset);
    line.steps = status.steps;
    line.tokens = status.tokens;
    line.activeSeconds = status.activeSeconds;
    line.evalLoss = status.evaluation ? status.evaluation->loss : line.evalLoss;
    line.config = std::make_shared<const RunConfig>(status.file.config);
    const auto attempts = ledger.ok() ? ledger.value().attempts() : ledger.error();
    const auto inForce = attempts.ok() ? latestConfig(attempts.value(), *line.config) : attempts.error();
    if (inForce.ok() && inForce.value() != *line.config)
        line.changed = std::make_shared<const RunConfig>(inForce.value());
    if (sparkline && attempts.ok() && attempts.value().size() > 1)
        if (auto paces = pacesOfSettings(ledger.value(), attempts.value(), *line.config); paces.ok())
            line.paces = std::move(paces).value();
    line.epochsClosed = std::count_if(status.epochs.begin(), status.epochs.end(),
        [](const EpochRow& epoch) { return epoch.closedWallNs.has_value(); });
    const auto shown = shownEpochs(status);
    if (shown) {
        line.committed = shown->together.chunks[ChunkState::Committed];
        line.chunks = shown->together.chunks.sum();
    }
    if (sparkline && ledger.ok() && status.attempt > 0 && shown && line.chunks <= kMostSparklineChunks)
        line.sparkline = lossesInOrder(ledger.value(), *shown);
    return line;
}

WorkspaceScanner::WorkspaceScanner(QObject* parent)
    : QObject(parent)
    , lines_(std::make_shared<const RunLines>())
    , queue_(std::make_shared<const QueueView>())
{
}

WorkspaceScanner::~WorkspaceScanner() { stopScanning(); }

void WorkspaceScanner::stopScanning()
{
    if (scanner_.joinable()) {
        scanner_.request_stop();
        wake_.notify_all();
        scanner_.join();
    }
}

void WorkspaceScanner::open(const QString& workspace, const QStringList& extraRuns)
{
    stopScanning();
    ++generation_;
    workspace_ = workspace;
    std::vector<fs::path> extra;
    for (const QString& run : extraRuns)
        extra.push_back(pathFromUtf8(run.toStdString()));
    scanner_ = std::jthread([this, folder = pathFromUtf8(workspace.toStdString()), extra](
                                const std::stop_token& stop) { scanLoop(stop, folder, extra); });
}

void WorkspaceScanner::setResting(bool resting)
{
    const std::scoped_lock lock(mutex_);
    resting_ = resting;
    refreshWanted_ = !resting;
    wake_.notify_all();
}

void WorkspaceScanner::refresh()
{
    const std::scoped_lock lock(mutex_);
    refreshWanted_ = true;
    wake_.notify_all();
}

void WorkspaceScanner::scanLoop(
    const std::stop_token& stop, const fs::path& workspace, const std::vector<fs::path>& extra)
{
    std::map<fs::path, Known> known;
    RunLines sent;
    QueueView sentQueue;
    for (bool first = true; !stop.stop_requested(); first = false) {
        const std::vector<fs::path> folders = allFolders(workspace, extra);
        std::erase_if(known,
            [&folders](const auto& run) { return !std::binary_search(folders.begin(), folders.end(), run.first); });
        const WorkspaceView beside = readWorkspace(workspace);
        if (beside.queue != sentQueue) {
            sentQueue = beside.queue;
            publishQueue(std::make_shared<const QueueView>(sentQueue));
        }
        auto published = std::chrono::steady_clock::now();
        for (std::size_t begin = 0; begin < folders.size(); begin += kBatch) {
            if (stop.stop_requested())
                return;
            refreshBatch({ folders.begin() + static_cast<std::ptrdiff_t>(begin),
                             folders.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kBatch, folders.size())) },
                known);
            if (first
                && std::chrono::steady_clock::now() - published > kPublishEvery) { // many runs: show them as they come
                takeNotes(known, beside.notes, workspace);
                publish(std::make_shared<const RunLines>(newestFirst(known)));
                published = std::chrono::steady_clock::now();
            }
        }
        takeNotes(known, beside.notes, workspace);
        RunLines lines = newestFirst(known);
        if (first || !sameLines(lines, sent)) {
            sent = lines;
            publish(std::make_shared<const RunLines>(std::move(lines)));
        }
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, stop, (kScanEvery + kScanPerRun * known.size()) * (resting_ ? kRestingFactor : 1),
            [this] { return refreshWanted_; });
        refreshWanted_ = false;
    }
}

void WorkspaceScanner::publish(const std::shared_ptr<const RunLines>& lines)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation = generation_, lines] {
            if (generation != generation_)
                return;
            lines_ = lines;
            Q_EMIT scanned(lines_);
        },
        Qt::QueuedConnection);
}

void WorkspaceScanner::publishQueue(const QueuePtr& queue)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation = generation_, queue] {
            if (generation != generation_)
                return;
            queue_ = queue;
            Q_EMIT queueRead(queue_);
        },
        Qt::QueuedConnection);
}

} // namespace furrow
