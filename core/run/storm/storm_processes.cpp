// Processes that are killed, or stand still.

#include "core/run/storm/storm_deeds.h"

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
    freezeProcess(*worker, false);
    return { "froze worker " + named(*worker) + " until it was ended", ended ? 1 : 0,
        ended ? "" : "a worker that stood still for a minute was not ended" };
}

StormDeed freezeSupervisor(StormRun& run, Random& random)
{
    const auto supervisor = run.supervisorAlive();
    if (!supervisor || !freezeProcess(*supervisor, true))
        return { "no supervisor could be frozen" };
    const Stopwatch frozen;
    int killed = 0;
    if (random.below(2) == 0)
        killed = killWorker(run, random).kills;
    pause(500 + static_cast<std::int64_t>(random.below(5500)));
    freezeProcess(*supervisor, false);
    return { "froze the supervisor for a time" + std::string(killed ? ", with a worker killed meanwhile" : ""), killed,
        "", frozen.seconds() };
}

} // namespace furrow::deeds
