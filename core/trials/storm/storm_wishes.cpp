// What people ask of a run while it storms.

#include "core/trials/storm/storm_deeds.h"

#include <algorithm>

namespace furrow::deeds {

StormDeed stopInOrder(StormRun& run, Random&)
{
    const auto asked = stopRun(run.paths());
    const bool ended = waitFor([&] { return !run.isHeld(); }, 60'000);
    return { asked.ok() ? "asked for 'stop'" : asked.error().message, 0,
        ended ? "" : "the run did not stop in a minute", std::nullopt };
}

StormDeed pauseAndGoOn(StormRun& run, Random& random)
{
    const auto asked = pauseRun(run.paths());
    pause(static_cast<std::int64_t>(random.below(1500)));
    const auto again = continueRun(run.paths()); // refused where it ended meanwhile
    return { asked.ok() && again.ok() ? "asked for 'pause', then 'continue'" : "the run ended while it was to pause", 0,
        "", std::nullopt };
}

namespace {

StormDeed endAttempt(StormRun& run, Random& random)
{
    return (random.below(2) == 0 ? stopInOrder : killAll)(run, random);
}

} // namespace

StormDeed changeWorkers(StormRun& run, Random& random)
{
    constexpr int kCounts[] = { 4, 1, 7 };
    const int before = run.workers();
    const auto at = std::find(std::begin(kCounts), std::end(kCounts), before) - std::begin(kCounts);
    run.setWorkers(kCounts[(at + 1) % 3]);
    const auto ended = endAttempt(run, random);
    return { std::to_string(before) + " workers become " + std::to_string(run.workers()), ended.kills, ended.problem };
}

StormDeed changeMerging(StormRun& run, Random& random)
{
    run.setMerge(run.merge() == MergeMethod::Average ? MergeMethod::DiLoCo : MergeMethod::Average);
    const auto ended = endAttempt(run, random);
    return { "replicas are merged by " + toString(run.merge()) + " from now on", ended.kills, ended.problem };
}

StormDeed trainTogether(StormRun& run, Random& random)
{
    run.setTogether(!run.together());
    const auto ended = endAttempt(run, random);
    return { run.together() ? "all workers train one model together from now on"
                            : "each worker trains a model of its own from now on",
        ended.kills, ended.problem };
}

StormDeed goBack(StormRun& run, Random& random)
{
    auto deed = endAttempt(run, random);
    auto plan = planResume(run.paths());
    if (!plan.ok())
        return { plan.error().message, deed.kills };
    std::erase_if(plan.value().checkpoints, [](const auto& choice) { return !choice.canBeChosen; });
    if (plan.value().checkpoints.empty())
        return { "there was no checkpoint to go back to", deed.kills };
    const auto& choice = plan.value().checkpoints[random.below(plan.value().checkpoints.size())];
    const auto resumed = run.resume({}, choice.row.id);
    deed.text = "went back to checkpoint " + choice.row.record.folder + "; " + std::to_string(choice.redo.size())
        + " chunks are trained again";
    if (!resumed.ok())
        deed.problem = "going back to checkpoint " + choice.row.record.folder + ": " + resumed.error().message;
    return deed;
}

} // namespace furrow::deeds
