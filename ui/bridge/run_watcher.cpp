#include "ui/bridge/run_watcher.h"

#include "core/base/clock.h"
#include "core/base/path.h"

#include <chrono>
#include <utility>

namespace furrow {

namespace {

using namespace std::chrono_literals;
constexpr auto kBeat = 50ms;
constexpr auto kRestingBeat = 2s;
constexpr int kBeatsPerStatus = 10; // the state is derived twice a second
constexpr std::int64_t kHiccupNs = 3'000'000'000; // of a run that was read before: the next look will tell

} // namespace

RunWatcher::RunWatcher(QObject* parent)
    : QObject(parent)
{
}

RunWatcher::~RunWatcher() { stopReading(); }

void RunWatcher::stopReading()
{
    if (reader_.joinable()) {
        reader_.request_stop();
        wake_.notify_all();
        reader_.join();
    }
}

void RunWatcher::open(const QString& folder)
{
    stopReading();
    ++generation_;
    setHeld(false); // a moment of another run is none of this one
    folder_ = folder;
    status_.reset();
    tables_.reset();
    telemetry_.reset();
    newest_.reset();
    problem_ = {};
    lastReadNs_ = 0;
    failingSinceNs_ = 0;
    wanted_.epoch.reset();
    inFlight_ = false;
    windowBeginNs_ = 0;
    eventsInWindow_ = 0;
    linesRead_ = 0;
    reading_ = !folder.isEmpty();
    Q_EMIT opened(folder);
    Q_EMIT readingChanged(reading_);
    if (folder.isEmpty())
        return;
    reader_ = std::jthread(
        [this, folder, generation = generation_](const std::stop_token& stop) { readLoop(stop, folder, generation); });
}

void RunWatcher::setHeld(bool held)
{
    if (held_ == held)
        return;
    held_ = held;
    {
        const std::scoped_lock lock(mutex_);
        wanted_.views = !held;
    }
    Q_EMIT heldChanged(held);
}

void RunWatcher::showMoment(std::optional<std::int64_t> wallNs)
{
    if (!newest_)
        return;
    telemetry_ = wallNs ? snapshotUntil(*newest_, static_cast<double>(*wallNs) * 1e-9) : newest_;
    Q_EMIT telemetryRead(telemetry_);
}

void RunWatcher::setEpoch(std::optional<std::int64_t> epoch)
{
    const std::scoped_lock lock(mutex_);
    wanted_.epoch = epoch;
    refreshWanted_ = true;
    wake_.notify_all();
}

void RunWatcher::setResting(bool resting)
{
    const std::scoped_lock lock(mutex_);
    resting_ = resting;
    refreshWanted_ = true;
    wake_.notify_all();
}

void RunWatcher::refresh()
{
    const std::scoped_lock lock(mutex_);
    refreshWanted_ = true;
    wake_.notify_all();
}

void RunWatcher::readLoop(const std::stop_token& stop, const QString& folder, quint64 generation)
{
    RunPoller poller(RunPaths(pathFromUtf8(folder.toStdString())));
    for (int beat = 0; !stop.stop_requested(); ++beat) {
        RunPoller::Wanted wanted;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, stop, [this] { return !inFlight_; });
            if (stop.stop_requested())
                return;
            wanted = wanted_;
            wanted.status = refreshWanted_ || resting_ || beat % kBeatsPerStatus == 0;
            refreshWanted_ = false;
        }
        auto update = std::make_shared<const RunUpdate>(poller.poll(wanted));
        std::unique_lock lock(mutex_);
        if (!update->empty()) {
            inFlight_ = true;
            QMetaObject::invokeMethod(
                this, [this, generation, update] { deliver(generation, update); }, Qt::QueuedConnection);
        }
        wake_.wait_for(lock, stop, resting_ ? kRestingBeat : kBeat, [this] { return refreshWanted_; });
    }
}

void RunWatcher::deliver(quint64 generation, const std::shared_ptr<const RunUpdate>& update)
{
    if (generation != generation_)
        return;
    if (takeProblem(*update))
        return;
    if (update->tables)
        tables_ = update->tables;
    if (update->status) {
        status_ = update->status;
        Q_EMIT statusRead(status_);
    }
    if (update->tables)
        Q_EMIT tablesRead(tables_);
    if (update->cells)
        Q_EMIT cellsRead(update->cells);
    if (update->claims)
        Q_EMIT claimsRead(update->claims);
    if (update->events)
        Q_EMIT eventsRead(update->events);
    if (update->logLines)
        Q_EMIT logRead(update->logLines);
    if (update->telemetry) {
        newest_ = update->telemetry;
        telemetry_ = newest_;
        Q_EMIT telemetryRead(telemetry_);
    }
    measurePace(*update);
    if (std::exchange(reading_, false))
        Q_EMIT readingChanged(false);
    const std::scoped_lock lock(mutex_);
    inFlight_ = false;
    wake_.notify_all();
}

/// True when the run was opened anew.
bool RunWatcher::takeProblem(const RunUpdate& update)
{
    if (update.isAnother) {
        open(QString(folder_));
        return true;
    }
    const std::int64_t now = systemClock().monotonicNs();
    if (update.status) {
        if (!problem_.empty() && status_) { // it is back, or something else stands in its place
            open(QString(folder_));
            return true;
        }
        lastReadNs_ = systemClock().wallNs();
        failingSinceNs_ = 0;
    }
    if (update.problem && failingSinceNs_ == 0)
        failingSinceNs_ = now;
    const bool sure = update.problem && (!status_ || update.isGone || now - failingSinceNs_ > kHiccupNs);
    const Message problem = sure ? update.problem->message : update.status ? Message() : problem_;
    if (!(problem == problem_)) {
        problem_ = problem;
        Q_EMIT problemChanged(problem_);
    }
    return false;
}

void RunWatcher::measurePace(const RunUpdate& update)
{
    const std::int64_t now = systemClock().monotonicNs();
    const std::int64_t linesBefore = linesRead_;
    if (update.telemetry)
        linesRead_ = update.telemetry->counts.lines;
    if (windowBeginNs_ == 0) { // the first look brings history, not pace
        windowBeginNs_ = now;
        return;
    }
    const auto moves = update.events ? static_cast<std::int64_t>(update.events->size()) : 0;
    eventsInWindow_ += static_cast<double>(moves + std::max<std::int64_t>(0, linesRead_ - linesBefore));
    const double seconds = static_cast<double>(now - windowBeginNs_) * 1e-9;
    if (seconds < 1)
        return;
    Q_EMIT paceMeasured(eventsInWindow_ / seconds, update.lagMs);
    eventsInWindow_ = 0;
    windowBeginNs_ = now;
}

} // namespace furrow
