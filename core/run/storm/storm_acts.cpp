// The faults of a storm. Each does its harm and returns; the storm's loop sees to it that the run goes on.

#include "core/run/storm/storm_acts.h"

#include "core/base/file_system.h"
#include "core/data/block_manager.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace furrow {

namespace {

using Milliseconds = std::chrono::milliseconds;
constexpr int kFailPointTries = 3;

void pause(std::int64_t ms)
{
    std::this_thread::sleep_for(Milliseconds(ms));
}

template <typename Condition> bool waitFor(Condition condition, std::int64_t ms)
{
    const auto deadline = std::chrono::steady_clock::now() + Milliseconds(ms);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        pause(20);
    }
    return true;
}

/// One of the workers, when there are any.
std::optional<ProcessIdentity> oneWorker(const StormRun& run, Random& random)
{
    std::vector<ProcessIdentity> alive;
    waitFor([&] { return !(alive = run.workersAlive()).empty(); }, 5000);
    if (alive.empty())
        return std::nullopt;
    return alive[random.below(alive.size())];
}

std::string named(const ProcessIdentity& process)
{
    return "process " + std::to_string(process.pid);
}

StormDeed killWorker(StormRun& run, Random& random)
{
    const auto worker = oneWorker(run, random);
    if (!worker)
        return { "no worker was alive", 0 };
    killProcess(*worker);
    return { "killed worker " + named(*worker), 1 };
}

StormDeed killFeeder(StormRun& run, Random&)
{
    const auto feeder = run.feederAlive();
    if (!feeder)
        return { "no feeder was alive", 0 };
    killProcess(*feeder);
    return { "killed the feeder, " + named(*feeder), 1 };
}

/// The workers see their pipe close, checkpoint and end; sometimes the next supervisor comes before they have.
StormDeed killSupervisor(StormRun& run, Random& random)
{
    const auto supervisor = run.supervisorAlive();
    if (!supervisor)
        return { "no supervisor was alive", 0 };
    killProcess(*supervisor);
    waitFor([&] { return !run.isHeld(); }, 5000);
    const auto after = static_cast<std::int64_t>(random.below(1500));
    pause(after);
    return { "killed the supervisor, " + named(*supervisor) + ", and waited " + std::to_string(after) + " ms", 1 };
}

StormDeed killAll(StormRun& run, Random&)
{
    const auto workers = static_cast<int>(run.workersAlive().size());
    run.killEverything();
    waitFor([&] { return !run.isHeld(); }, 5000);
    return { "killed everything: supervisor, feeder and " + std::to_string(workers) + " workers", workers + 2 };
}

StormDeed killByHand(StormRun& run, Random&)
{
    const auto asked = killRun(run.paths());
    waitFor([&] { return !run.isHeld(); }, 30'000);
    return { asked.ok() ? "asked for 'kill'" : asked.error().message, asked.ok() ? 1 : 0 };
}

/// Stands still until its lease is over; then the supervisor must take its work away and end it.
StormDeed freezeWorker(StormRun& run, Random& random)
{
    const auto worker = oneWorker(run, random);
    if (!worker || !freezeProcess(*worker, true))
        return { "no worker could be frozen", 0 };
    const bool ended = waitFor([&] { return !isAlive(*worker) || !run.isHeld(); }, 60'000) && !isAlive(*worker);
    freezeProcess(*worker, false);
    return { "froze worker " + named(*worker) + " beyond its lease; " + (ended ? "it was stopped" : "it was NOT stopped"), ended ? 1 : 0 };
}

StormDeed freezeSupervisor(StormRun& run, Random& random)
{
    const auto supervisor = run.supervisorAlive();
    if (!supervisor || !freezeProcess(*supervisor, true))
        return { "no supervisor could be frozen", 0 };
    int killed = 0;
    if (random.below(2) == 0)
        killed = killWorker(run, random).kills;
    pause(500 + static_cast<std::int64_t>(random.below(5500)));
    freezeProcess(*supervisor, false);
    return { "froze the supervisor for a time" + std::string(killed ? ", with a worker killed meanwhile" : ""), killed };
}

StormDeed stopInOrder(StormRun& run, Random&)
{
    const auto asked = stopRun(run.paths());
    const bool ended = waitFor([&] { return !run.isHeld(); }, 60'000);
    return { asked.ok() ? "asked for 'stop'" + std::string(ended ? "" : "; it did NOT stop in a minute") : asked.error().message, 0 };
}

StormDeed pauseAndGoOn(StormRun& run, Random& random)
{
    const auto asked = pauseRun(run.paths());
    pause(static_cast<std::int64_t>(random.below(1500)));
    const auto again = continueRun(run.paths());
    return { asked.ok() && again.ok() ? "asked for 'pause', then 'continue'" : "the run ended while it was to pause", 0 };
}

StormDeed changeWorkers(StormRun& run, Random& random)
{
    constexpr int kCounts[] = { 4, 1, 7 };
    const int before = run.workers();
    const auto at = std::find(std::begin(kCounts), std::end(kCounts), before) - std::begin(kCounts);
    run.setWorkers(kCounts[(at + 1) % 3]);
    if (random.below(2) == 0)
        stopInOrder(run, random);
    else
        killAll(run, random);
    return { std::to_string(before) + " workers become " + std::to_string(run.workers()), 0 };
}

StormDeed jumpClock(StormRun& run, Random& random)
{
    const auto days = static_cast<std::int64_t>(random.below(61)) - 30;
    run.setWallOffset(days * 86'400);
    killAll(run, random);
    return { "the wall clock is " + std::to_string(days) + " days off from now on", 0 };
}

StormDeed fillDisk(StormRun& run, Random& random)
{
    { std::ofstream full(run.diskFullFile()); }
    const auto ms = 500 + static_cast<std::int64_t>(random.below(4000));
    pause(ms);
    (void)realFileSystem().removeAll(run.diskFullFile());
    return { "the disk was full for " + std::to_string(ms) + " ms", 0 };
}

/// Flips a bit, cuts the file or removes it.
std::string damage(const std::filesystem::path& file, Random& random)
{
    std::error_code failed;
    const auto size = std::filesystem::file_size(file, failed);
    const auto name = file.parent_path().filename().string() + "/" + file.filename().string();
    if (failed)
        return name + " was gone already";
    const auto kind = size == 0 ? 2 : random.below(3);
    if (kind == 2) {
        std::filesystem::remove(file, failed);
        return "removed " + name;
    }
    if (kind == 1) {
        std::filesystem::resize_file(file, random.below(size), failed);
        return "cut " + name;
    }
    const auto at = static_cast<std::streamoff>(random.below(size));
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(at);
    const char flipped = static_cast<char>(bytes.get() ^ (1 << random.below(8)));
    bytes.seekp(at);
    bytes.put(flipped);
    return "flipped a bit of " + name;
}

std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, const std::string& extension = {})
{
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
        if (entry.is_regular_file(failed) && (extension.empty() || entry.path().extension() == extension))
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

StormDeed damageCheckpoint(StormRun& run, Random& random)
{
    auto reader = LedgerReader::open(run.paths().tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : reader.error();
    if (!rows.ok())
        return { rows.error().message, 0 };
    std::erase_if(rows.value(), [](const auto& row) { return row.removed || row.damaged; });
    const bool onlyHeads = random.below(4) != 0;
    if (onlyHeads)
        std::erase_if(rows.value(), [](const auto& row) { return !row.head; });
    if (rows.value().empty())
        return { "there was no checkpoint to damage", 0 };
    const auto folder = run.paths().checkpointFolder(rows.value()[random.below(rows.value().size())].record.folder);
    const auto files = filesIn(folder);
    if (files.empty() || random.below(8) == 0) {
        (void)realFileSystem().removeAll(folder);
        return { "removed checkpoint " + folder.filename().string(), 0 };
    }
    return { damage(files[random.below(files.size())], random), 0 };
}

StormDeed damageBlock(StormRun& run, Random& random)
{
    const auto files = filesIn(BlockManager::blockFolder(run.paths().cacheFolder()), ".block");
    if (files.empty())
        return { "no block was prepared yet", 0 };
    return { damage(files[random.below(files.size())], random), 0 };
}

StormDeed damageTelemetry(StormRun& run, Random& random)
{
    const auto files = filesIn(run.paths().telemetryFolder());
    if (files.empty())
        return { "there was no telemetry to damage", 0 };
    return { damage(files[random.below(files.size())], random), 0 };
}

/// What a process leaves that dies at a bad moment, and what people copy into folders.
StormDeed leaveDebris(StormRun& run, Random& random)
{
    const auto folder = run.paths().checkpointFolder("r0-" + std::to_string(random.below(100000)) + "-debris" + (random.below(2) == 0 ? ".tmp" : ""));
    (void)realFileSystem().createFolders(folder);
    { std::ofstream file(folder / "weights.safetensors"); file << "not weights"; }
    { std::ofstream file(run.paths().folder() / "view.sqlite.tmp"); file << "not a snapshot"; }
    return { "left " + folder.filename().string() + " and a half-written snapshot", 0 };
}

} // namespace

const std::vector<StormAct>& stormActs()
{
    static const std::vector<StormAct> all = {
        { "kill_worker", "a worker, or the task that merges, is killed", 8, true, killWorker },
        { "kill_feeder", "the feeder is killed", 2, true, killFeeder },
        { "kill_supervisor", "the supervisor is killed, its workers are not", 4, true, killSupervisor },
        { "kill_all", "every process is killed", 3, true, killAll },
        { "kill_by_hand", "'furrowctl kill'", 1, true, killByHand },
        { "freeze_worker", "a worker stands still (SIGSTOP) beyond its lease", 1, true, freezeWorker },
        { "freeze_supervisor", "the supervisor stands still for some seconds", 1, false, freezeSupervisor },
        { "stop", "'furrowctl stop'", 2, false, stopInOrder },
        { "pause", "'furrowctl pause', then 'continue'", 1, false, pauseAndGoOn },
        { "change_workers", "the number of workers goes from 4 to 1 to 7 to 4", 3, false, changeWorkers },
        { "jump_clock", "the wall clock jumps by up to 30 days", 1, false, jumpClock },
        { "disk_full", "writing checkpoints and blocks fails as on a full disk for some seconds", 2, false, fillDisk },
        { "damage_checkpoint", "a file of a checkpoint is flipped, cut or removed, or all of it", 5, false, damageCheckpoint },
        { "damage_block", "a prepared block is flipped, cut or removed", 3, false, damageBlock },
        { "damage_telemetry", "a telemetry file is flipped, cut or removed", 1, false, damageTelemetry },
        { "debris", "leftovers of dead processes lie about", 1, false, leaveDebris },
    };
    return all;
}

StormDeed performFailPoint(StormRun& run, Random& random, const std::string& name, const std::filesystem::path& marker, bool& reached)
{
    const auto isReached = [&] { return std::filesystem::exists(marker); };
    const bool oncePerProcess = name.starts_with("supervisor.") || name.starts_with("feeder.") || name.starts_with("worker.") || name.starts_with("merge.");
    auto hit = oncePerProcess ? 1 : 1 + random.below(3);
    for (int attempt = 0; attempt < kFailPointTries && !isReached(); ++attempt, hit = 1) { // an attempt may be over before a third time comes
        if (run.isHeld())
            (random.below(2) == 0 ? stopInOrder : killAll)(run, random);
        if (name.starts_with("feeder.") && name != "feeder.planned") // something must be there to be prepared
            for (const auto& block : filesIn(BlockManager::blockFolder(run.paths().cacheFolder()), ".block"))
                (void)realFileSystem().removeAll(block);
        if (name == "supervisor.merging") // another number of workers is merged first
            run.setWorkers(run.workers() == 1 ? 4 : 1);
        const auto started = run.resume({ { "FURROW_FAIL_AT", name + ":" + std::to_string(hit) }, { "FURROW_FAIL_ONCE", marker.string() } });
        if (!started.ok() && !isReached())
            return { name + ": " + started.error().message, 0 };
        if (!waitFor([&] { return isReached() || !run.isHeld(); }, 15'000 * (attempt + 1))) // else it is a place near the end
            (void)stopRun(run.paths());
        waitFor([&] { return isReached() || !run.isHeld(); }, 30'000);
    }
    reached = isReached();
    return { "died at " + name + ":" + std::to_string(hit) + (reached ? "" : " (NOT reached)"), reached ? 1 : 0 };
}

} // namespace furrow
