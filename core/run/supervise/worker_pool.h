#pragma once

#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/device/placement.h"
#include "core/run/supervise/back_off.h"
#include "core/run/supervise/restart_budget.h"
#include "core/run/folder/run_folder_guard.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// The processes of one attempt: one feeder, one trainer for each placement. Starts them, sees them end, starts them
/// again with back-off. Knows nothing of the ledger. One thread.
class WorkerPool {
public:
    /// @param together  the trainers are the ranks of one group (setting `parallel` is data): when one ends they all
    /// do, and start again together
    /// @param files  asked before a process is started, too: none begins in another folder than this one
    WorkerPool(RunPaths paths, GuardedFiles& files, std::int64_t attempt, std::vector<WorkerPlacement> placements,
        int maxRestarts, bool together, const Clock& clock);

    Status startAll();

    /// A process that ended since the last call. `worker` is -1 for the feeder.
    struct Ended {
        int worker = 0;
        ProcessIdentity process;
        ProcessExit exit;
    };
    std::vector<Ended> poll();

    /// Plans a restart, at once or after a while (BackOff). False when the limit of the attempt is spent.
    /// Ranks of a group restart as one: the first end plans it, those of the others belong to it.
    /// @param pausedAt  as of RestartBudget::take()
    bool restartLater(int worker, bool endedByUs = false, std::optional<std::int64_t> pausedAt = std::nullopt);
    /// Starts again what is due.
    Status startDue();

    void requestStop(); ///< SIGTERM to workers: checkpoint and end
    void killAll();
    void stopFeeder();

    std::vector<ProcessIdentity> processes() const; ///< of workers that have not ended
    std::optional<ProcessIdentity> feeder() const; ///< nothing: it ended
    bool anyWorkerAlive() const;
    bool anyRestartPlanned() const;
    /// Workers that ended when no restart was left for them.
    std::vector<int> goneForGood() const;

    struct Start {
        int worker = 0;
        std::int64_t atNs = 0; ///< monotonic
        std::optional<ProcessIdentity> process; ///< nothing: it is still to come
    };
    /// Of each trainer the start that is planned, or that its process had.
    std::vector<Start> starts() const;

private:
    struct Slot {
        WorkerPlacement placement;
        std::optional<ChildProcess> process;
        BackOff backOff;
        bool isGone = false; ///< for good
    };
    Status start(Slot& slot);
    Status startTrainers();
    Status startTogether();
    Status startFeeder();
    Result<ChildProcess> startProcess(const std::filesystem::path& program, const ProcessOptions& options);

    RunPaths paths_;
    GuardedFiles& files_;
    std::int64_t attempt_;
    RestartBudget restarts_;
    bool together_;
    const Clock& clock_;
    std::filesystem::path meeting_; ///< of the newest start together
    std::vector<Slot> slots_;
    std::optional<ChildProcess> feeder_;
    BackOff feederBackOff_;
};

} // namespace furrow
