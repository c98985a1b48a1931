// Processes that are killed, or stand still.

#include "core/trials/storm/storm_deeds.h"

#include "core/base/file_system.h"
#include "core/data/block_manager.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>

namespace furrow::deeds {

std::optional<ProcessIdentity> oneWorker(const StormRun& run, Random& random)
{
    std::vector<ProcessIdentity> alive;
    waitFor([&] { return !(alive = run.workersAlive()).empty(); }, 5000);
    if (alive.empty())
        return std::nullopt;
    return alive[random.below(alive.size())];
}

std::string named(const ProcessIdentity& process) { return "process " + std::to_string(process.pid); }

StormDeed killWorker(StormRun& run, Random& random)
{
    const auto worker = oneWorker(run, random);
    if (!worker)
        return { "no worker was alive" };
    killProcess(*worker);
    return { "killed worker " + named(*worker), 1 };
}

StormDeed killFeeder(StormRun& run, Random&)
{
    const auto feeder = run.feederAlive();
    if (!feeder)
        return { "no feeder was alive" };
    killProcess(*feeder);
    return { "killed the feeder, " + named(*feeder), 1 };
}

/// The workers see their pipe close, checkpoint and end; sometimes the next supervisor comes before they have.
StormDeed killSupervisor(StormRun& run, Random& random)
{
    const auto supervisor = run.supervisorAlive();
    if (!supervisor)
        return { "no supervisor was alive" };
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

/// Stands still until others wait for it at a merge, or its lease is over; then the supervisor must take its work away
/// and end it.
StormDeed freezeWorker(StormRun& run, Random& random)
{
    const auto worker = oneWorker(run, random);
    if (!worker || !freezeProcess(*worker, true))
        return { "no worker could be frozen" };
    const bool ended = waitFor([&] { return !isAlive(*worker) || !run.isHeld(); }, 60'000) && !isAlive(*worker);
    const bool wasLeft = !ended && (run.isHeld() || run.isEndRecorded()); // else its supervisor died meanwhile
    freezeProcess(*worker, false);
    return { "froze worker " + named(*worker) + " until it was ended", ended ? 1 : 0,
        wasLeft ? "a worker that stood still for a minute was not ended" : "" };
}

/// Stands still until workers wait for data; then the supervisor must end it and start another one.
StormDeed freezeFeeder(StormRun& run, Random& random)
{
    const auto feeder = run.feederAlive();
    if (!feeder || !freezeProcess(*feeder, true))
        return { "no feeder could be frozen" };
    const bool removed = random.below(2) == 0;
    if (removed)
        for (const auto& block : filesIn(BlockManager::blockFolder(run.paths().cacheFolder()), ".block"))
            (void)realFileSystem().removeAll(block);
    const bool ended = waitFor([&] { return !isAlive(*feeder) || !run.isHeld(); }, removed ? 10'000 : 3000);
    freezeProcess(*feeder, false);
    return { "froze the feeder, " + named(*feeder) + (removed ? ", with the prepared blocks removed," : "")
            + (ended ? " until it was ended" : ""),
        ended ? 1 : 0 };
}

namespace {

/// Nobody waits at a merge for a process that is gone, of which the supervisor does not know yet.
bool everyDeathIsSeen(const StormRun& run)
{
    auto reader = LedgerReader::open(run.paths().tracker());
    const auto rows = reader.ok() ? reader.value().incarnations() : Result<std::vector<IncarnationRow>>(reader.error());
    return rows.ok() && std::all_of(rows.value().begin(), rows.value().end(), [](const IncarnationRow& row) {
        return !row.live || isAlive(row.process);
    });
}

} // namespace

/// Its workers train on, into the next epoch too. What only a supervisor does waits for it: with a worker killed
/// meanwhile the others may wait at a merge; and inside a write it keeps the lock of the tracker.
StormDeed freezeSupervisor(StormRun& run, Random& random)
{
    const auto supervisor = run.supervisorAlive();
    waitFor([&] { return everyDeathIsSeen(run); }, 5000);
    if (!supervisor || !freezeProcess(*supervisor, true))
        return { "no supervisor could be frozen" };
    const Stopwatch frozen;
    pause(100);
    const auto writer = trackerLocks(run.paths().tracker()).writer;
    const bool hasLock = writer && writer->pid == supervisor->pid;
    int killed = 0;
    if (random.below(2) == 0)
        killed = killWorker(run, random).kills;
    pause(500 + static_cast<std::int64_t>(random.below(5500)));
    freezeProcess(*supervisor, false);
    const double seconds = frozen.seconds();
    return { "froze the supervisor for " + std::to_string(static_cast<int>(seconds * 1000)) + " ms"
            + (hasLock ? ", inside a write" : "") + (killed ? ", with a worker killed meanwhile" : ""),
        killed, "", hasLock || killed ? seconds : 0 };
}

} // namespace furrow::deeds
