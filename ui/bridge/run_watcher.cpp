#include "ui/bridge/run_watcher.h"

#include "core/base/clock.h"
#include "core/base/path.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace furrow {

namespace {

using namespace std::chrono_literals;
constexpr auto kBeat = 50ms;
constexpr auto kRestingBeat = 2s;
constexpr int kBeatsPerStatus = 10; // the state is derived twice a second
constexpr std::int64_t kHiccupNs = 3'000'000'000; // of a run that was read before: the next look will tell

} // namespace

/// A folder that is read, and what its thread and the watcher share.
struct RunWatcher::Reading {
    quint64 generation = 0; // what is delivered of another one comes too late
    std::mutex mutex;
    std::condition_variable_any wake;
    RunPoller::Wanted wanted; // guarded by mutex
    bool refreshWanted = false; // guarded by mutex
    bool resting = false; // guarded by mutex
    bool inFlight = false; // guarded by mutex: an update was sent and is not delivered yet
    std::atomic<bool> atEnd = false;
    std::jthread thread; // the last member: it ends before what it uses

    template <typename Change> void change(Change apply)
    {
        const std::scoped_lock lock(mutex);
        apply();
        wake.notify_all();
    }
};

RunWatcher::RunWatcher(QObject* parent)
    : QObject(parent)
{
}

RunWatcher::~RunWatcher()
{
    leaveReading();
    left_.clear(); // waits for the threads, which deliver to this object
}

void RunWatcher::leaveReading()
{
    if (now_) {
        now_->thread.request_stop();
        left_.push_back(std::move(now_));
    }
    std::erase_if(left_, [](const auto& reading) { return reading->atEnd.load(); });
}

void RunWatcher::open(const QString& folder)
{
    leaveReading();
    setHeld(false); // a moment of another run is none of this one
    folder_ = folder;
    status_.reset();
    tables_.reset();
    telemetry_.reset();
    newest_.reset();
    problem_ = {};
    lastReadNs_ = 0;
    failingSinceNs_ = 0;
    windowBeginNs_ = 0;
    eventsInWindow_ = 0;
    linesRead_ = 0;
    reading_ = !folder.isEmpty();
    telemetryWhole_ = false;
    if (reading_) {
        now_ = std::make_unique<Reading>();
        now_->generation = ++generations_;
        now_->resting = resting_;
    }
    Q_EMIT opened(folder);
    Q_EMIT readingChanged(reading_);
    if (now_)
        now_->thread = std::jthread(
            [this, folder, &reading = *now_](const std::stop_token& stop) { readLoop(reading, stop, folder); });
}

void RunWatcher::setHeld(bool held)
{
    if (held_ == held)
        return;
    held_ = held;
    if (now_)
        now_->change([&] { now_->wanted.views = !held; });
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
    if (now_)
        now_->change([&] {
            now_->wanted.epoch = epoch;
            now_->refreshWanted = true;
        });
}

void RunWatcher::setResting(bool resting)
{
    resting_ = resting;
    if (now_)
        now_->change([&] {
            now_->resting = resting;
            now_->refreshWanted = true;
        });
}

void RunWatcher::refresh()
{
    if (now_)
        now_->change([&] { now_->refreshWanted = true; });
}

void RunWatcher::readLoop(Reading& reading, const std::stop_token& stop, const QString& folder)
{
    {
        RunPoller poller(RunPaths(pathFromUtf8(folder.toStdString())));
        for (int beat = 0; !stop.stop_requested(); ++beat) {
            RunPoller::Wanted wanted;
            {
                std::unique_lock lock(reading.mutex);
                reading.wake.wait(lock, stop, [&] { return !reading.inFlight; });
                if (stop.stop_requested())
                    break;
                wanted = reading.wanted;
                wanted.status = reading.refreshWanted || reading.resting || beat % kBeatsPerStatus == 0;
                reading.refreshWanted = false;
            }
            auto update = std::make_shared<const RunUpdate>(poller.poll(wanted));
            std::unique_lock lock(reading.mutex);
            if (!update->empty() && !stop.stop_requested()) {
                reading.inFlight = true;
                QMetaObject::invokeMethod(
                    this, [this, generation = reading.generation, update] { deliver(generation, *update); },
                    Qt::QueuedConnection);
            }
            reading.wake.wait_for(
                lock, stop, reading.resting ? kRestingBeat : kBeat, [&] { return reading.refreshWanted; });
        }
    }
    reading.atEnd = true; // after what the poller keeps at its end
}

void RunWatcher::deliver(quint64 generation, const RunUpdate& update)
{
    const auto isCurrent = [&] { return now_ && now_->generation == generation; };
    if (!isCurrent())
        return;
    if (takeProblem(update))
        return;
    if (status_ || update.status || problem_.empty())
        tell(update);
    if (update.logLines)
        Q_EMIT logRead(update.logLines);
    measurePace(update);
    if (std::exchange(reading_, false))
        Q_EMIT readingChanged(false);
    if (isCurrent()) // whoever heard of it may have opened another run
        now_->change([&] { now_->inFlight = false; });
}

/// Not of a run of which nothing is known: curves and lanes would be shown beside that sentence.
void RunWatcher::tell(const RunUpdate& update)
{
    if (update.tables)
        tables_ = update.tables;
    if (update.status) {
        status_ = update.status;
        Q_EMIT statusRead(status_);
    }
    if (update.tables)
        Q_EMIT tablesRead(tables_);
    if (update.cells)
        Q_EMIT cellsRead(update.cells);
    if (update.claims)
        Q_EMIT claimsRead(update.claims);
    if (update.events)
        Q_EMIT eventsRead(update.events);
    telemetryWhole_ = !update.telemetryWaits;
    if (update.telemetry) {
        newest_ = update.telemetry;
        telemetry_ = newest_;
        Q_EMIT telemetryRead(telemetry_);
    }
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
        if (!problem_.empty()) { // it is back, or something else stands in its place
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
