#include "core/workspace/queue_runner.h"

#include "core/base/byte_locks.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/lock_holder.h"
#include "core/base/log.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/device/gpu.h"
#include "core/run/folder/before_writing.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_holder.h"
#include "core/run/status/run_status.h"
#include "core/workspace/run_folders.h"
#include "core/workspace/workspace_paths.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

namespace furrow {

namespace {

constexpr auto kBeat = std::chrono::milliseconds(500);
constexpr auto kBeginPatience = std::chrono::seconds(10);

/// Devices of a setting; an empty set means every GPU.
std::set<std::string> devicesOf(const std::string& setting)
{
    std::set<std::string> devices;
    for (std::size_t begin = 0; begin < setting.size();) {
        const std::size_t end = std::min(setting.find(',', begin), setting.size());
        std::string one = setting.substr(begin, end - begin);
        one.erase(std::remove(one.begin(), one.end(), ' '), one.end());
        if (one.starts_with("cpu"))
            one = "cpu"; // cpu:2 is the same processor
        if (!one.empty() && one != "auto" && one != "all")
            devices.insert(one);
        begin = end + 1;
    }
    return devices;
}

/// How a run of the queue ended; empty while it has not.
std::string outcomeOf(const RunPaths& paths)
{
    auto status = readStatus(paths);
    if (!status.ok())
        return "cannot be read: " + status.error().message;
    if (status.value().supervised)
        return {};
    switch (status.value().state) {
    case RunState::Finished: return "finished";
    case RunState::Failed: return "failed: " + status.value().stopDetail;
    case RunState::Interrupted: return "interrupted";
    case RunState::Pausing:
    case RunState::Paused:
    case RunState::Stopped: return "stopped";
    default: return {};
    }
}

/// Whoever may read a workspace could hold its lock for ever: only those who can run the queue may open it.
void keepLockFromReaders(const std::filesystem::path& lock)
{
    using enum std::filesystem::perms;
    std::error_code failed;
    const auto now = std::filesystem::status(lock, failed).permissions();
    const bool isOfGroup = !failed && (now & group_write) != none;
    if (!failed)
        std::filesystem::permissions(
            lock, owner_read | owner_write | (isOfGroup ? group_read | group_write : none), failed);
}

/// By a program that does not run queues.
bool isHeldByStranger(const std::filesystem::path& lock)
{
    const auto owner = ownerOfFileLock(lock);
    return owner && owner->process != thisProcess() && !owner->commandLine.empty()
        && !isProgramOfFurrow(owner->commandLine);
}

Result<FileLock> takeQueueLock(const std::filesystem::path& workspace, const StopRequest& stop)
{
    const auto path = queueLock(workspace);
    bool isSaid = false;
    for (;;) {
        auto lock = FileLock::tryLock(path);
        if (lock.ok())
            keepLockFromReaders(path);
        if (lock.ok() || lock.error().code != ErrorCode::Busy)
            return lock;
        if (!isHeldByStranger(path) || stop.waitFor(kBeat))
            return Error { ErrorCode::Busy,
                sentence("the queue of %1 is run by another process already", { utf8Text(workspace) }) };
        if (!std::exchange(isSaid, true))
            logWarning(whatHoldsQueueUp(workspace));
    }
}

/// The devices of living runs of the workspace that somebody started beside the queue.
class RunsBesideTheQueue {
public:
    explicit RunsBesideTheQueue(std::filesystem::path workspace)
        : workspace_(std::move(workspace))
    {
    }

    std::vector<std::string> lanes(const std::vector<QueueEntry>& queue)
    {
        std::vector<std::string> taken;
        std::map<std::filesystem::path, std::string> alive;
        for (const auto& folder : runFolders(workspace_)) {
            if (!isLocked(RunPaths(folder).supervisorLock()) || isOf(queue, folder))
                continue;
            const auto known = lanes_.find(folder);
            const auto lane = known == lanes_.end() ? laneOfRun(folder) : known->second;
            alive[folder] = lane;
            taken.push_back(lane);
        }
        lanes_ = std::move(alive); // one that is resumed may have other devices
        return taken;
    }

private:
    static bool isOf(const std::vector<QueueEntry>& queue, const std::filesystem::path& folder)
    {
        return std::any_of(queue.begin(), queue.end(), [&](const QueueEntry& entry) {
            return entry.state == QueueState::Running && pathFromUtf8(entry.run) == folder;
        });
    }
    static std::string laneOfRun(const std::filesystem::path& folder)
    {
        const auto config = currentConfig(RunPaths(folder));
        return laneOf(config.ok() ? config.value().devices : "");
    }

    std::filesystem::path workspace_;
    std::map<std::filesystem::path, std::string>
        lanes_; ///< as found when they were seen first: to ask a driver is slow
};

Status startWaiting(WorkspaceFile& file, RunsBesideTheQueue& others)
{
    FURROW_TRY_ASSIGN(auto queue, file.queue());
    if (std::none_of(queue.begin(), queue.end(), [](const auto& entry) { return entry.state == QueueState::Waiting; }))
        return {};
    for (QueueEntry& entry : queue) { // one that was let go still holds its devices until its processes have ended
        if (entry.state == QueueState::Waiting && isLocked(RunPaths(pathFromUtf8(entry.run)).supervisorLock()))
            entry.state = QueueState::Running;
    }
    for (const QueueEntry& entry : startable(queue, others.lanes(queue))) {
        const RunPaths paths(pathFromUtf8(entry.run));
        auto config = currentConfig(paths);
        auto started = config.ok() ? startRun(paths, config.value()) : Result<ProcessIdentity>(config.error());
        const bool ok = started.ok();
        logInfo(
            "The run " + entry.name + " of the queue " + (ok ? "begins." : "cannot begin: " + started.error().message));
        FURROW_TRY(file.setEntry(
            entry.id, ok ? QueueState::Running : QueueState::Ended, ok ? "" : "failed: " + started.error().message));
    }
    return {};
}

} // namespace

std::string laneOf(const std::string& devices)
{
    auto monitor = GpuMonitor::open();
    const std::vector<Gpu> gpus = monitor.ok() ? monitor.value().read() : std::vector<Gpu> {};
    const auto named = devicesOf(devices);
    if (gpus.empty())
        return named.empty() ? "cpu" : devices;
    std::set<std::string> lane;
    for (const Gpu& gpu : gpus) {
        if (named.empty() || named.contains(std::to_string(gpu.index)) || named.contains(gpu.uuid))
            lane.insert(gpu.uuid);
    }
    for (const std::string& device : named) {
        const bool isNumber = device.find_first_not_of("0123456789") == std::string::npos;
        if (!isNumber)
            lane.insert(device);
    }
    std::string text;
    for (const std::string& device : lane)
        text += (text.empty() ? "" : ",") + device;
    return text;
}

bool shareDevice(const std::string& a, const std::string& b)
{
    const auto first = devicesOf(a);
    const auto second = devicesOf(b);
    const auto onlyCpu
        = [](const std::set<std::string>& devices) { return devices == std::set<std::string> { "cpu" }; };
    if (first.empty() || second.empty()) // every GPU: collides with everything but the processor
        return !onlyCpu(first) && !onlyCpu(second);
    return std::any_of(first.begin(), first.end(), [&](const std::string& device) { return second.contains(device); });
}

std::vector<QueueEntry> startable(const std::vector<QueueEntry>& queue, std::vector<std::string> taken)
{
    for (const QueueEntry& entry : queue) {
        if (entry.state == QueueState::Running)
            taken.push_back(entry.lane);
    }
    std::vector<QueueEntry> found;
    for (const QueueEntry& entry : queue) {
        if (entry.state != QueueState::Waiting)
            continue;
        const bool free = std::none_of(
            taken.begin(), taken.end(), [&entry](const std::string& lane) { return shareDevice(lane, entry.lane); });
        taken.push_back(entry.lane); // nobody overtakes in a lane
        if (free)
            found.push_back(entry);
    }
    return found;
}

namespace {

QueueEntry asItIs(QueueEntry entry)
{
    std::string outcome
        = entry.state == QueueState::Running ? outcomeOf(RunPaths(pathFromUtf8(entry.run))) : std::string();
    if (!outcome.empty()) {
        entry.state = QueueState::Ended;
        entry.outcome = std::move(outcome);
    }
    return entry;
}

} // namespace

Result<std::vector<QueueEntry>> queueNow(WorkspaceFile& file)
{
    FURROW_TRY_ASSIGN(auto queue, file.queue());
    std::ranges::transform(queue, queue.begin(), asItIs);
    return queue;
}

Status settleQueue(WorkspaceFile& file)
{
    FURROW_TRY_ASSIGN(const auto queue, file.queue());
    for (const QueueEntry& kept : queue) {
        const QueueEntry now = asItIs(kept);
        if (now.state == kept.state)
            continue;
        logInfo("The run " + now.name + " of the queue ended: " + now.outcome + ".");
        FURROW_TRY(file.setEntry(now.id, now.state, now.outcome));
    }
    return {};
}

namespace {

/// Something of it is in training, or waits for its turn.
Result<bool> isOpen(WorkspaceFile& file)
{
    FURROW_TRY_ASSIGN(const auto paused, file.isQueuePaused());
    FURROW_TRY_ASSIGN(const auto queue, file.queue());
    return std::any_of(queue.begin(), queue.end(), [paused](const QueueEntry& e) {
        return e.state == QueueState::Running || (e.state == QueueState::Waiting && !paused);
    });
}

/// Until nothing of it is open, or `stop`.
Status runOpen(WorkspaceFile& file, RunsBesideTheQueue& others, const StopRequest& stop)
{
    do {
        FURROW_TRY(settleQueue(file));
        FURROW_TRY_ASSIGN(auto paused, file.isQueuePaused());
        if (!paused)
            FURROW_TRY(startWaiting(file, others));
        FURROW_TRY_ASSIGN(const bool goesOn, isOpen(file));
        if (!goesOn)
            return {};
    } while (!stop.waitFor(kBeat));
    return {};
}

} // namespace

Status runQueue(const std::filesystem::path& workspace, const StopRequest& stop)
{
    FURROW_TRY(beforeWritingBelow(workspace));
    RunsBesideTheQueue others(workspace);
    for (bool isAgain = false;; isAgain = true) {
        auto lock = takeQueueLock(workspace, stop);
        if (!lock.ok()) // somebody else takes care of what came last
            return isAgain && lock.error().code == ErrorCode::Busy ? Status {} : Status(lock.error());
        FURROW_TRY_ASSIGN(auto file, WorkspaceFile::open(workspace));
        FURROW_TRY(runOpen(file, others, stop));
        {
            const FileLock freed = std::move(lock).value();
        }
        // Who queued a run after the last look and before that saw the queue run, and started nobody.
        FURROW_TRY_ASSIGN(const bool goesOn, isOpen(file));
        if (!goesOn || stop.requested())
            return {};
    }
}

Status checkQueueCanRun(const std::filesystem::path& workspace)
{
    const auto lock = queueLock(workspace);
    std::error_code unknown;
    if (isQueueRun(workspace) || !std::filesystem::exists(std::filesystem::symlink_status(lock, unknown)))
        return {};
    const auto opened = RegularFile::open(lock, RegularFile::At::End); // as who runs the queue opens it
    return opened.ok()
        ? Status {}
        : Error { opened.error().code,
              sentence("You cannot run this queue, and nobody is seen to run it: %1", { opened.error().message }) };
}

Status checkQueueCanStart(const std::filesystem::path& workspace, const std::filesystem::path& run)
{
    FURROW_TRY(checkWritable(run));
    const auto holder = fileLockHolder(queueLock(workspace));
    if (!holder || holder->user.empty()) // else the process that is started for it is this user's
        return {};
    const RunPaths paths(run);
    if (mayItsUserWrite(holder->pid, run) && mayItsUserWrite(holder->pid, paths.tracker()))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "The queue is run by %1, who may not write %2 and could never start it. Let the group write it (chmod -R g+rwX), or add it when that process has ended.",
            { inWords(*holder), utf8Text(run) }) };
}

Message whatHoldsQueueUp(const std::filesystem::path& workspace)
{
    const auto lock = queueLock(workspace);
    const auto holder = fileLockHolder(lock);
    if (!holder)
        return {};
    if (isHeldByStranger(lock))
        return sentence(
            "Nothing of the queue is started: %1 holds %2 and is not a program of Furrow. End it, or wait until it lets go.",
            { inWords(*holder), utf8Text(lock) });
    return holder->stopped
        ? sentence("Nothing of the queue is started: %1 runs it. Let it go on, or end it and start the queue again.",
              { inWords(*holder) })
        : Message();
}

bool isQueueRun(const std::filesystem::path& workspace)
{
    return isLocked(queueLock(workspace)) || fileLockHolder(queueLock(workspace));
}

Status startQueue(const std::filesystem::path& workspace)
{
    FURROW_TRY(beforeWritingBelow(workspace));
    FURROW_TRY(checkQueueCanRun(workspace));
    if (isQueueRun(workspace) && !isHeldByStranger(queueLock(workspace)))
        return {};
    auto program = executablePath().parent_path() / "furrowctl"; // also when the console asks
    program += executablePath().extension();
    ProcessOptions options;
    options.arguments = { "queue", "run", "--workspace", utf8Text(workspace) };
    options.outputFile = queueLog(workspace);
    options.withSecrets = true; // for the feeders of its runs
    FURROW_TRY_ASSIGN(const auto runner, startDetached(program, options));
    // Before it has the lock it is not seen to run the queue: whoever asks at once would be told that nobody does.
    const auto deadline = std::chrono::steady_clock::now() + kBeginPatience;
    while (!isQueueRun(workspace) && isAlive(runner) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return {};
}

Status letNextRun(const std::filesystem::path& workspace, std::int64_t id)
{
    FURROW_TRY_ASSIGN(auto file, WorkspaceFile::open(workspace));
    FURROW_TRY_ASSIGN(auto queue, file.queue());
    const auto& all = queue;
    const auto now = std::find_if(
        all.begin(), all.end(), [id](const QueueEntry& e) { return e.id == id && e.state == QueueState::Running; });
    if (now == all.end())
        return Error { ErrorCode::InvalidArgument,
            sentence("entry %1 of the queue is not in training", { std::to_string(id) }) };
    const auto next = std::find_if(now, all.end(),
        [&](const QueueEntry& e) { return e.state == QueueState::Waiting && shareDevice(e.lane, now->lane); });
    if (next == all.end())
        return Error { ErrorCode::InvalidArgument,
            sentence("no other run waits for the devices of %1", { now->name }) };
    FURROW_TRY(stopRun(RunPaths(pathFromUtf8(now->run))));
    // It waits again, behind the one that is let through.
    FURROW_TRY(file.moveEntry(id, next - all.begin()));
    return file.setEntry(id, QueueState::Waiting, "stopped to let " + next->name + " run first");
}

} // namespace furrow
