// The faults of a storm. Each does its harm and returns; the storm's loop sees to it that the run goes on.

#include "core/trials/storm/storm_deeds.h"

#include "core/base/file_system.h"
#include "core/data/block_manager.h"

namespace furrow {

using namespace deeds;

namespace {
constexpr int kFailPointTries = 3;
}

const std::vector<StormAct>& stormActs()
{
    static const std::vector<StormAct> all = {
        { "kill_worker", "a worker, or the task that merges, is killed", 8, true, killWorker },
        { "kill_feeder", "the feeder is killed", 2, true, killFeeder },
        { "kill_supervisor", "the supervisor is killed, its workers are not", 4, true, killSupervisor },
        { "kill_all", "every process is killed", 3, true, killAll },
        { "kill_by_hand", "'furrowctl kill'", 1, true, killByHand },
        { "freeze_worker", "a worker stands still (SIGSTOP) beyond its lease", 1, true, freezeWorker },
        { "freeze_writer", "a worker or the feeder stands still inside a write transaction of the tracker", 1, true,
            freezeWriter },
        { "freeze_reader", "'furrowctl audit' stands still (Ctrl+Z) inside a read transaction", 1, false,
            freezeReader },
        { "freeze_feeder", "the feeder stands still (SIGSTOP), with the prepared blocks gone or not", 1, false,
            freezeFeeder },
        { "freeze_supervisor", "the supervisor stands still for some seconds", 1, false, freezeSupervisor },
        { "foreign_reader", "another program reads the tracker for some seconds in one transaction", 1, false,
            foreignReader },
        { "foreign_lock",
            "another program holds the write lock of the tracker (BEGIN IMMEDIATE), for seconds or for longer than anybody's patience",
            1, false, foreignLock },
        { "sqlite_fails", "SQLite's own reading, writing or syncing fails (a full disk, a dying one) for some seconds",
            2, false, failSqlite },
        { "older_version", "the live tracker is of an older version, and a control command of this one comes", 1, false,
            olderVersion },
        { "stop", "'furrowctl stop'", 2, false, stopInOrder },
        { "pause", "'furrowctl pause', then 'continue'", 1, false, pauseAndGoOn },
        { "change_workers", "the number of workers goes from 4 to 1 to 7 to 4", 3, false, changeWorkers },
        { "change_merging", "replicas are averaged, then merged by DiLoCo, then averaged", 2, false, changeMerging },
        { "train_together", "the workers train one model together (parallel data), then each its own again", 2, false,
            trainTogether },
        { "go_back", "'furrowctl resume --from-checkpoint' with any checkpoint that can be chosen", 2, false, goBack },
        { "jump_clock",
            "the wall clock jumps by up to 30 days, the monotonic one forward by seconds, many times during commits", 1,
            false, jumpClock },
        { "disk_full", "writing checkpoints and blocks fails as on a full disk for some seconds", 2, false, fillDisk },
        { "checkpoints_away", "the folder of the checkpoints vanishes and returns, as a disk that is unmounted", 2,
            false, takeCheckpointsAway },
        { "older_tracker", "an older tracker is put back in place of the newest", 1, false, putOlderTrackerBack },
        { "damage_checkpoint", "a file of a checkpoint is flipped, cut or removed, or all of it", 5, false,
            damageCheckpoint },
        { "damage_block", "a prepared block is flipped, cut or removed", 3, false, damageBlock },
        { "damage_telemetry", "a telemetry file is flipped, cut or removed", 1, false, damageTelemetry },
        { "debris", "leftovers of dead processes lie about", 1, false, leaveDebris },
    };
    return all;
}

StormDeed performFailPoint(
    StormRun& run, Random& random, const std::string& name, const std::filesystem::path& marker, bool& reached)
{
    const auto isReached = [&] { return std::filesystem::exists(marker); };
    const bool oncePerProcess = name.starts_with("supervisor.") || name.starts_with("feeder.")
        || name.starts_with("worker.") || name.starts_with("merge.");
    auto hit = oncePerProcess ? 1 : 1 + random.below(3);
    for (int attempt = 0; attempt < kFailPointTries && !isReached();
        ++attempt, hit = 1) { // an attempt may be over before a third time comes
        if (run.isHeld())
            (random.below(2) == 0 ? stopInOrder : killAll)(run, random);
        if (name.starts_with("feeder.") && name != "feeder.planned") // something must be there to be prepared
            for (const auto& block : filesIn(BlockManager::blockFolder(run.paths().cacheFolder()), ".block"))
                (void)realFileSystem().removeAll(block);
        if (name.starts_with("merge.") || name == "supervisor.merging") // one model has nothing to merge
            run.setTogether(false);
        if (name.starts_with("merge.")
            && run.workers() == 1) // a round is of several; with one of them nobody came to merge.taken
            run.setWorkers(2);
        if (name == "supervisor.merging") // another number of workers is merged first
            run.setWorkers(run.workers() == 1 ? 4 : 1);
        const auto started = run.resume(
            { { "FURROW_FAIL_AT", name + ":" + std::to_string(hit) }, { "FURROW_FAIL_ONCE", marker.string() } });
        if (!started.ok() && !isReached())
            return { name + ": " + started.error().message, 0 };
        if (!waitFor([&] { return isReached() || !run.isHeld(); },
                15'000 * (attempt + 1))) // else it is a place near the end
            (void)stopRun(run.paths());
        waitFor([&] { return isReached() || !run.isHeld(); }, 30'000);
    }
    reached = isReached();
    if (reached && name.starts_with("supervisor.")) // the mark is made a moment before the death
        waitFor([&] { return !run.isHeld(); }, 30'000);
    return { "died at " + name + ":" + std::to_string(hit) + (reached ? "" : " (NOT reached)"), reached ? 1 : 0 };
}

} // namespace furrow
