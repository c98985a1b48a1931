#pragma once

#include "core/config/run_config.h"
#include "core/device/device_locks.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/start/rate_outlook.h"
#include "core/run/start/resume_choice.h"
#include "core/run/supervise/head_check.h"
#include "core/run/supervise/keep_policy.h"
#include "core/run/supervise/merge_timer.h"
#include "core/run/supervise/stall_watch.h"
#include "core/run/supervise/standstill.h"
#include "core/run/supervise/stuck_processes.h"
#include "core/run/supervise/tracker_care.h"
#include "core/run/supervise/trouble_watch.h"
#include "core/run/supervise/worker_pool.h"
#include "core/tracker/ledger_reader.h"

#include <deque>
#include <map>
#include <memory>
#include <utility>

namespace furrow {

/// One attempt. Internal to the supervisor: its loop is in supervisor.cpp, what it does about processes that end or
/// must in supervision_deaths.cpp, its own end in supervision_end.cpp.
class Supervision {
public:
    Supervision(RunPaths paths, RunFile file, RunConfig config, const StopRequest& stop, SupervisorLedger ledger,
        LedgerReader reader, ResumeChoice choice, std::shared_ptr<const RunFolderGuard> guard)
        : paths_(std::move(paths))
        , file_(std::move(file))
        , config_(std::move(config))
        , stop_(stop)
        , ledger_(std::move(ledger))
        , reader_(std::move(reader))
        , choice_(choice)
        , files_(std::move(guard))
        , keep_(paths_, file_.runId, static_cast<int>(config_.keepLast), files_)
    {
    }

    Status run();

private:
    Status begin();
    Status lockDevices(std::vector<WorkerPlacement>& placements);
    Status recover(int replicas);
    Status settleRate(const RateOutlook& sofar, int workers);
    Status watch();
    Status turn();
    Status checkIsThere();
    bool outlastsDisk(const Error& error);
    bool hasStoppedTooLong() const;
    /// It was asked to end, and nobody is left for whom the disk must come back.
    bool isLeftAlone() const;
    std::filesystem::path logOf(const WorkerPool::Ended& ended) const;
    std::string lastWordsOf(const WorkerPool::Ended& ended) const;
    Status seeDeaths();
    Message whatIsNotSaved(const WorkerPool::Ended& ended) const;
    Status seeWhatCannotBeRead(const SupervisorLedger::Advance& advance);
    Status onWorkerEnd(const WorkerPool::Ended& ended);
    bool checkpointsAreAway() const;
    Status seeHeads();
    Status startAgain(const WorkerPool::Ended& ended);
    Result<Message> whoIsAwaited();
    std::optional<std::int64_t> trainedWhenPaused(const ProcessIdentity& process);
    bool outlast(std::chrono::milliseconds waited);
    Status beat();
    Status endWorker(const SupervisorLedger::Expired& worker, const Message& cause);
    Status stopHung();
    Status endStandstill();
    Status everySecond();
    Status lookForData(const Message& feederDoing);
    Status obey(DesiredState desired);
    void beginStopping();
    Status openMergeWhenDue(const LedgerReader::Totals& totals);
    Status endOrRestart();
    Status merge(const char* when);
    StopReason endedBy(const Error& error) const;
    bool wasKilled();
    void finish(StopReason reason, const Message& detail);

    RunPaths paths_;
    RunFile file_;
    RunConfig config_;
    const StopRequest& stop_;
    SupervisorLedger ledger_;
    LedgerReader reader_;
    ResumeChoice choice_;
    GuardedFiles files_; ///< what is written and removed by path goes through it, or asks its guard
    KeepPolicy keep_;
    HeadCheck heads_ { paths_, file_.runId };
    const Clock& clock_ = systemClock();
    TrackerCare care_ { paths_, ledger_, files_.guard(), clock_ };
    StallWatch stalls_ { paths_, reader_, clock_ };
    TroubleWatch troubles_ { paths_, ledger_, clock_ };
    Standstill standstill_ { ledger_, reader_, config_.parallel == ParallelMode::Data, clock_ };
    StuckProcesses stuck_ { ledger_, reader_, stalls_, clock_ };
    std::vector<FileLock> gpuLocks_;
    std::unique_ptr<WorkerPool> pool_;
    std::unique_ptr<MergeTimer> mergeTimer_;
    AttemptId attempt_;
    StopReason stopReason_ = StopReason::None; ///< of the ledger
    StoppingRules rules_; ///< of the configuration; those in force may end the run sooner, as a person asked meanwhile
    bool waitsForData_ = false; ///< and has nothing to train meanwhile
    bool anyTrained_ = false; ///< a worker lived at the newest heartbeat
    DesiredState desired_ = DesiredState::Run;
    bool stopping_ = false;
    bool over_ = false;
    Message lastFailure_;
    std::map<int, Message> failures_; ///< by worker, how its process ended last; -1: the feeder
    Message unsaved_; ///< what a stop did not save; "": nothing
    std::deque<WorkerPool::Ended> ended_; ///< whose end is to be recorded
    std::string diskTrouble_; ///< of the newest turn that failed
    std::string mergeDevice_; ///< of the first worker
    Message incomplete_; ///< what of the data cannot be read, when all else is trained; workers are asked to end
    Message fatal_; ///< why the attempt cannot go on; workers are asked to end
    std::int64_t stopBeganNs_ = 0;
    std::int64_t awaySinceNs_ = 0; ///< the run folder; 0: it is there
    std::int64_t nextSecondNs_ = 0;
};

} // namespace furrow
