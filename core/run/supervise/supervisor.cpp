// How this works: one loop, twenty times a second. Each turn looks at the processes first (a death frees claims at
// once), then at the leases, then lets the ledger advance, and every second at what people want. Everything it learns
// goes into the tracker; it keeps no truth of its own, so it may be killed at any instant.

#include "core/run/supervise/supervisor.h"

#include "core/base/end_patience.h"
#include "core/base/fail_point.h"
#include "core/base/fault_injection.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/is_there.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/config/gaussian_privacy.h"
#include "core/config/schema.h"
#include "core/device/device_locks.h"
#include "core/device/gpu.h"
#include "core/run/audit/begun_with.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/end_words.h"
#include "core/run/status/run_holder.h"
#include "core/run/supervise/attempt_end.h"
#include "core/run/supervise/keep_policy.h"
#include "core/run/supervise/merge_task.h"
#include "core/run/supervise/merge_timer.h"
#include "core/run/start/replica_heads.h"
#include "core/run/status/own_process.h"
#include "core/run/start/rate_outlook.h"
#include "core/run/start/recovery.h"
#include "core/run/start/resume_effect.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_links.h"
#include "core/run/supervise/stall_watch.h"
#include "core/run/supervise/standstill.h"
#include "core/run/supervise/stuck_processes.h"
#include "core/run/supervise/tracker_care.h"
#include "core/run/supervise/trouble_watch.h"
#include "core/run/status/tracker_config.h"
#include "core/run/supervise/worker_pool.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/sqlite/write_or_fail.h"
#include "core/tracker/training_notes.h"
#include "core/tracker/worker_ends.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <utility>

namespace furrow {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(50);
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kStopPatience = std::chrono::minutes(10);
constexpr auto kKeepPatience = std::chrono::seconds(10); // what is not removed by then, the next attempt removes
constexpr int kGaveUp = 1; // the exit code of a worker that could not go on, nor save
constexpr int kRecordTries = 10; // one a second, of an end on a full disk

double awaySeconds() { return faultNumber("FURROW_AWAY_PATIENCE_S", 30 * 60); }

std::string overridesJson(const RunConfig& frozen, const RunConfig& wanted)
{
    nlohmann::json json = nlohmann::json::object();
    const auto all = toJson(wanted);
    for (const auto& change : changes(frozen, wanted))
        json[change.setting->key] = all.at(change.setting->key);
    return json.dump();
}

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

    Status run()
    {
        ledger_.setPatience([this](std::chrono::milliseconds waited) { return outlast(waited); });
        auto status = begin();
        if (status.ok())
            status = watch();
        if (auto replaced = files_.guard().checkReplaced(); !over_ && !replaced.ok())
            status = replaced; // whatever failed because of it
        if (pool_)
            pool_->killAll();
        if (!status.ok() && attempt_.value != 0) {
            const StopReason reason = endedBy(status.error());
            finish(reason, reason == StopReason::User && wasKilled() ? sentence(kKilled) : status.error().message);
        }
        return status;
    }

private:
    Status begin();
    Status lockDevices(std::vector<WorkerPlacement>& placements);
    Status recover(int replicas);
    Status settleRate(const RateOutlook& sofar, int workers);
    Status watch();
    Status turn();
    Status checkIsThere();
    bool outlastsDisk(const Error& error);
    bool hasStoppedTooLong() const
    {
        return stopping_ && clock_.monotonicNs() - stopBeganNs_ > std::chrono::nanoseconds(kStopPatience).count();
    }
    /// It was asked to end, and nobody is left for whom the disk must come back.
    bool isLeftAlone() const
    {
        return stopping_ && pool_ && !pool_->anyWorkerAlive()
            && static_cast<double>(clock_.monotonicNs() - stopBeganNs_) > endPatienceSeconds() * kSecondNs;
    }
    std::filesystem::path logOf(const WorkerPool::Ended& ended) const;
    std::string lastWordsOf(const WorkerPool::Ended& ended) const;
    Status seeDeaths();
    Message whatIsNotSaved(const WorkerPool::Ended& ended) const;
    Status seeWhatCannotBeRead(const SupervisorLedger::Advance& advance);
    Status onWorkerEnd(const WorkerPool::Ended& ended);
    bool checkpointsAreAway() const;
    Status checkHeads();
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
    const Clock& clock_ = systemClock();
    TrackerCare care_ { paths_, ledger_, files_.guard(), clock_ };
    StallWatch stalls_ { paths_, reader_, clock_ };
    TroubleWatch troubles_ { paths_, ledger_, clock_ };
    Standstill standstill_ { ledger_, reader_, config_.parallel == ParallelMode::Data, clock_ };
    StuckProcesses stuck_ { ledger_, reader_, clock_ };
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

/// The attempt is recorded before anything is put in order: from then on no process of an earlier one can register any
/// more.
Status Supervision::begin()
{
    std::vector<WorkerPlacement> placements;
    FURROW_TRY(lockDevices(placements));
    FURROW_TRY_ASSIGN(auto rateSoFar, readRateOutlook(paths_)); // by the settings of the attempt before
    FURROW_TRY(ledger_.setStoppingRules(stoppingRules(config_)));
    FURROW_TRY_ASSIGN(const auto before, reader_.totals());
    rules_ = before.rules;
    FURROW_TRY(ledger_.setDesired(DesiredState::Run));
    FURROW_TRY_ASSIGN(auto attempt, ledger_.beginAttempt(thisProcess(), overridesJson(file_.config, config_)));
    attempt_ = attempt;
    failPoint("supervisor.began");
    const int workers = static_cast<int>(placements.size());
    const bool together = config_.parallel == ParallelMode::Data;
    FURROW_TRY(recover(together ? 1 : workers));
    FURROW_TRY(files_.guard().check());
    FURROW_TRY(settleRate(rateSoFar, workers));
    failPoint("supervisor.recovered");
    FURROW_TRY_ASSIGN(auto totals, reader_.totals());
    mergeTimer_ = std::make_unique<MergeTimer>(config_, workers, totals.tokens);
    pool_ = std::make_unique<WorkerPool>(
        paths_, files_, attempt_.value, std::move(placements), static_cast<int>(config_.maxRestarts), together, clock_);
    logInfo("attempt " + std::to_string(attempt_.value) + " begins with " + std::to_string(workers)
        + (workers == 1 ? " worker" : " workers") + (together ? " that train one model together" : ""));
    return pool_->startAll();
}

Status Supervision::lockDevices(std::vector<WorkerPlacement>& placements)
{
    FURROW_TRY_ASSIGN(auto placed, placeWorkersHere(config_));
    FURROW_TRY_ASSIGN(gpuLocks_, furrow::lockDevices(placed));
    placements = std::move(placed);
    mergeDevice_ = placements.front().device;
    return {};
}

Status Supervision::recover(int replicas)
{
    FURROW_TRY_ASSIGN(auto notes, recoverRun(paths_, file_, ledger_, choice_, files_));
    for (const auto& note : notes)
        logWarning(note);
    if (attempt_.value > 1) { // the same sum that the dry run shows, now that it has happened
        FURROW_TRY_ASSIGN(auto effect, resumeEffect(reader_, std::nullopt, {}));
        logInfo("attempt " + std::to_string(attempt_.value) + " goes on. " + effectSentence(effect));
    }
    FURROW_TRY_ASSIGN(auto now, readReplicaHeads(reader_));
    if (config_.merge != MergeMethod::None && mustMergeBefore(now, replicas))
        FURROW_TRY(merge("the number of workers changed"));
    return ledger_.setActiveReplicas(replicas);
}

/// The schedule of this attempt, the same for each worker and each start of it.
Status Supervision::settleRate(const RateOutlook& sofar, int workers)
{
    FURROW_TRY_ASSIGN(auto now, readRateOutlook(paths_)); // what is taken back is not trained any more
    RateOutlook outlook = sofar;
    outlook.position = now.position;
    const auto forecast = forecastRate(outlook, config_, workers, choice_.rate);
    const bool told = forecast.changed || choice_.rate;
    if (told)
        logInfo(forecast.text());
    const auto patience = [this](std::chrono::milliseconds waited) { return outlast(waited); };
    if (config_.noiseMultiplier > 0)
        FURROW_TRY(keepMostParticipations(paths_.tracker(), mostParticipations(config_), patience));
    return keepRatePlan(paths_.tracker(), toJsonText(forecast.plan), told ? forecast.text() : Message(), patience);
}

Status Supervision::watch()
{
    while (!over_) {
        if (auto status = turn(); !status.ok() && !outlastsDisk(status.error()))
            return status;
        if (!over_)
            stop_.waitFor(stopping_ ? kTurn / 2 : kTurn);
    }
    return {};
}

/// A disk that is full or away may be there again, and workers wait for it with what they trained: a turn that failed
/// is taken again, each second.
bool Supervision::outlastsDisk(const Error& error)
{
    if (!mayPass(error) || !files_.guard().checkReplaced().ok() || wasKilled())
        return false;
    if (stop_.requested() && !stopping_)
        beginStopping();
    if (hasStoppedTooLong() || isLeftAlone())
        return false;
    if (std::exchange(diskTrouble_, error.message.text()) != error.message.text())
        logWarning(withFullStop(error.message) + " The run waits until that is over.");
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return true;
}

Status Supervision::turn()
{
    FURROW_TRY(files_.guard().checkReplaced());
    FURROW_TRY(checkIsThere());
    FURROW_TRY(seeDeaths());
    FURROW_TRY(endStandstill());
    if (!checkpointsAreAway()) // who begins reads one first
        FURROW_TRY(pool_->startDue());
    FURROW_TRY_ASSIGN(auto advance, ledger_.advance());
    stopReason_ = advance.stop;
    FURROW_TRY(seeWhatCannotBeRead(advance));
    if (clock_.monotonicNs() >= nextSecondNs_) {
        nextSecondNs_ = clock_.monotonicNs() + kSecondNs;
        FURROW_TRY(everySecond());
    }
    if (stop_.requested() && !stopping_) {
        logInfo("asked to end: workers checkpoint and stop");
        beginStopping();
    }
    if (!pool_->anyWorkerAlive() && !pool_->anyRestartPlanned())
        return endOrRestart();
    return {};
}

/// A disk that is away may come back. One that never does would keep this process for ever, and this process it.
Status Supervision::checkIsThere()
{
    if (isThere(paths_.folder())) {
        awaySinceNs_ = 0;
        return {};
    }
    const auto now = clock_.monotonicNs();
    if (awaySinceNs_ == 0) {
        awaySinceNs_ = now;
        logWarning(sentence("%1 is gone. Is its disk still there? The attempt waits for it, %2 at most.",
            { utf8Text(paths_.folder()), formatDuration(awaySeconds()) }));
    }
    if (static_cast<double>(now - awaySinceNs_) < awaySeconds() * static_cast<double>(kSecondNs))
        return {};
    return Error { ErrorCode::NotFound,
        sentence(
            "%1 has been gone for %2, so the attempt ends. Bring its disk back and resume: what the checkpoints have is kept.",
            { utf8Text(paths_.folder()), formatDuration(awaySeconds()) }) };
}

/// Nobody is left to wait for: the feeder needs a person, or all that is left cannot be read.
Status Supervision::seeWhatCannotBeRead(const SupervisorLedger::Advance& advance)
{
    if (stopping_ || stopReason_ != StopReason::None)
        return {};
    if (!advance.gaveUp.empty()) {
        fatal_ = advance.gaveUp;
    } else if (advance.onlyUnreadableLeft) {
        FURROW_TRY_ASSIGN(auto chunks, poisonedChunks(paths_.tracker()));
        incomplete_ = whatCannotBeRead(chunks, advance.planningEnded);
    } else {
        return {};
    }
    logError(fatal_.empty() ? incomplete_ : fatal_);
    beginStopping();
    return {};
}

Status Supervision::seeDeaths()
{
    for (auto& ended : pool_->poll())
        ended_.push_back(std::move(ended));
    for (; !ended_.empty(); ended_.pop_front()) // one whose end could not be recorded is seen again
        FURROW_TRY(onWorkerEnd(ended_.front()));
    return {};
}

Status Supervision::onWorkerEnd(const WorkerPool::Ended& ended)
{
    const Message who
        = ended.worker < 0 ? sentence("The feeder") : sentence("Worker %1", { std::to_string(ended.worker) });
    const bool inOrder = ended.exit.signal == 0 && ended.exit.exitCode == 0;
    FURROW_TRY_ASSIGN(auto live, ledger_.live());
    const Message cause = desired_ == DesiredState::Kill
        ? sentence(kRunKilled)
        : stalls_.whyEnded(ended.process).value_or(ended.exit.describe());
    std::int64_t freed = 0;
    for (const auto& incarnation : live) {
        if (!(incarnation.process == ended.process))
            continue;
        FURROW_TRY_ASSIGN(freed, ledger_.revoke(incarnation.incarnation, cause));
        logWarning(who + " ended (" + cause + "); " + std::to_string(freed) + " chunks are free again.");
    }
    failPoint("supervisor.revoked");
    const bool atLimit = ended.exit.signal == 0 && ended.exit.exitCode == kLimitExit;
    const bool gaveUp
        = atLimit || (ended.exit.signal == 0 && ended.exit.exitCode == kGaveUp); // it has ended in the ledger
    if (stopping_ && ended.worker >= 0 && desired_ != DesiredState::Kill && (gaveUp || freed > 0))
        unsaved_ = whatIsNotSaved(ended);
    if (inOrder || stopping_)
        return {};
    if (ended.worker < 0) // of workers the ledger has rows that say so
        if (auto noted = noteRunEvent(paths_.tracker(), sentence("the feeder ended: %1", { cause })); !noted.ok())
            logWarning(noted.error().message);
    // It gave up by itself: perhaps its weights were damaged on disk. What is away comes back.
    if (ended.exit.signal == 0 && ended.worker >= 0 && !checkpointsAreAway()) {
        if (auto status = checkHeads(); !status.ok() || !fatal_.empty())
            return status;
    }
    const auto log = logOf(ended);
    const std::string said = lastWordsOf(ended);
    lastFailure_ = said.empty()
        ? sentence("%1 ended with %2. See %3 for more.", { who, ended.exit.describe(), utf8Text(log) })
        : sentence("%1 ended with %2: %3 See %4 for more.",
              { who, ended.exit.describe(), withFullStop(said), utf8Text(log) });
    if (!atLimit) {
        if (pool_->restartLater(ended.worker, stalls_.whyEnded(ended.process).has_value()))
            return {};
        lastFailure_ = sentence(
            "%1 The limit of %2 restarts is reached.", { lastFailure_, std::to_string(config_.maxRestarts) });
    }
    logError(lastFailure_);
    if (atLimit || ended.worker < 0) { // another one ends as well; without a feeder the workers would wait for ever
        fatal_ = lastFailure_;
        beginStopping();
    }
    return {};
}

std::filesystem::path Supervision::logOf(const WorkerPool::Ended& ended) const
{
    return paths_.logFile(attempt_.value, ended.worker < 0 ? "feeder" : "worker-" + std::to_string(ended.worker));
}

/// A process that was killed did not know: what it wrote last explains nothing.
std::string Supervision::lastWordsOf(const WorkerPool::Ended& ended) const
{
    return ended.exit.signal == 0 ? lastComplaint(logOf(ended)) : std::string();
}

/// Of a worker that was asked to save and end, and ended otherwise.
Message Supervision::whatIsNotSaved(const WorkerPool::Ended& ended) const
{
    const std::string said = lastWordsOf(ended);
    return sentence("what worker %1 had trained since its last checkpoint could not be saved, and is trained again: %2",
        { std::to_string(ended.worker), said.empty() ? ended.exit.describe() : Message(said) });
}

/// Their disk was unmounted, say: nothing begins that has to read them, and who trains waits to save. Nobody is asked:
/// a resume would find no more than this.
bool Supervision::checkpointsAreAway() const { return !isThere(paths_.checkpointsFolder()); }

/// Newest weights that are not whole end the attempt; a resume asks a person. The other workers save what they have.
Status Supervision::checkHeads()
{
    FURROW_TRY_ASSIGN(auto verdict,
        verifyHeads(paths_, file_, ledger_, false)); // a yes at the resume was given for what was lost then
    for (const auto& note : verdict.notes)
        logWarning(note);
    if (verdict.refusal.empty())
        return {};
    fatal_ = verdict.refusal;
    logError(fatal_);
    beginStopping();
    return {};
}

/// Every write of this process waits for the lock of the tracker as long as it takes; meanwhile this is asked.
bool Supervision::outlast(std::chrono::milliseconds waited)
{
    stalls_.whileWaiting(waited);
    if (!over_ && !files_.guard().checkReplaced().ok())
        return false;
    if (!stop_.requested())
        return true;
    if (!pool_)
        return false;
    if (!stopping_)
        beginStopping();
    return !hasStoppedTooLong();
}

Status Supervision::beat()
{
    const bool trained = std::exchange(anyTrained_, pool_ && pool_->anyWorkerAlive() && !waitsForData_);
    auto status = ledger_.heartbeat(thisProcess(), trained);
    if (status.ok()) // the time without one is given back to the workers, which could not write either
        stalls_.onTurn();
    return status;
}

Status Supervision::stopHung()
{
    FURROW_TRY_ASSIGN(auto expired, ledger_.expired());
    for (const auto& hung : expired) {
        if (hung.overdueSeconds <= stalls_.forgivenSeconds(hung.renewedNs))
            continue;
        FURROW_TRY(endWorker(hung, sentence("no progress within its lease")));
    }
    return {};
}

Status Supervision::endStandstill()
{
    FURROW_TRY_ASSIGN(auto still, standstill_.overdue());
    for (const auto& worker : still)
        FURROW_TRY(endWorker(worker, sentence("it stood still while others waited for it")));
    const auto feeder = pool_->feeder();
    if (!feeder || desired_ != DesiredState::Run || stopping_)
        return {};
    FURROW_TRY_ASSIGN(const bool isAwaited, standstill_.isOverdue(*feeder));
    if (isAwaited)
        stalls_.endFeeder(*feeder, sentence("it stood still while workers waited for data"));
    return {};
}

Status Supervision::endWorker(const SupervisorLedger::Expired& worker, const Message& cause)
{
    logWarning("Worker " + std::to_string(worker.worker) + " is killed: " + cause + ".");
    FURROW_TRY(ledger_.revoke(worker.incarnation, cause));
    killOwnProcess(paths_, worker.process);
    return {};
}

Status Supervision::everySecond()
{
    FURROW_TRY(beat());
    FURROW_TRY(stopHung());
    FURROW_TRY(stuck_.end(pool_->processes(), attempt_, stopping_));
    FURROW_TRY_ASSIGN(auto totals, reader_.totals());
    FURROW_TRY(lookForData(totals.feederDoing));
    FURROW_TRY(obey(totals.desired));
    FURROW_TRY(openMergeWhenDue(totals));
    if (auto status = keep_.apply(ledger_); !status.ok())
        logWarning(status.error().message);
    care_.everySecond();
    return {};
}

/// Waiting for a disk or a hub is not training: neither the budget of hours nor the pace of the run counts it.
Status Supervision::lookForData(const Message& feederDoing)
{
    waitsForData_ = isWaitingForData(feederDoing);
    if (waitsForData_) {
        FURROW_TRY_ASSIGN(const auto epochs, reader_.epochs());
        waitsForData_ = isNothingToTrain(epochs);
    }
    return troubles_.see(waitsForData_ ? feederDoing : Message(), desired_ == DesiredState::Run && !stopping_);
}

Status Supervision::obey(DesiredState desired)
{
    const bool changed = desired != desired_;
    desired_ = desired;
    if (changed)
        logInfo("desired state: " + toString(desired));
    if (desired == DesiredState::Kill)
        pool_->killAll();
    if ((desired == DesiredState::Stop || desired == DesiredState::Kill) && !stopping_)
        beginStopping();
    if (hasStoppedTooLong()) {
        logWarning("workers did not stop in ten minutes and are killed");
        pool_->killAll();
    }
    return {};
}

void Supervision::beginStopping()
{
    stopping_ = true;
    stopBeganNs_ = clock_.monotonicNs();
    pool_->requestStop();
}

Status Supervision::openMergeWhenDue(const LedgerReader::Totals& totals)
{
    if (stopping_ || stopReason_ != StopReason::None || desired_ != DesiredState::Run
        || config_.parallel == ParallelMode::Data)
        return {};
    auto epochs = reader_.epochs();
    if (!epochs.ok() || epochs.value().empty())
        return {};
    if (!mergeTimer_->due(totals.tokens, epochs.value().back()))
        return {};
    mergeTimer_->opened(totals.tokens);
    FURROW_TRY(ledger_.openMergeRound());
    return {};
}

/// No worker is alive. Either the attempt is over, or they ended too early and start again.
Status Supervision::endOrRestart()
{
    if (!fatal_.empty()) {
        finish(StopReason::Error, fatal_);
    } else if (!incomplete_.empty()) {
        finish(StopReason::Incomplete, incomplete_);
    } else if (stopReason_ != StopReason::None) {
        FURROW_TRY_ASSIGN(auto now, readReplicaHeads(reader_));
        if (config_.merge != MergeMethod::None && isInPieces(now))
            FURROW_TRY(merge("the run is at its end"));
        FURROW_TRY_ASSIGN(const auto totals, reader_.totals());
        FURROW_TRY_ASSIGN(const auto epochs, reader_.epochs());
        const Message asked = stopAskedFor(stopReason_, rules_, totals.rules, epochs);
        finish(asked.empty() ? asWished(stopReason_, config_, totals.rules) : StopReason::User,
            asked.empty() ? whatWasLeftOut(paths_.tracker()) : asked);
    } else if (!unsaved_.empty()) {
        finish(StopReason::Error, unsaved_);
    } else if (desired_ == DesiredState::Stop || desired_ == DesiredState::Kill) {
        finish(StopReason::User, desired_ == DesiredState::Kill ? sentence(kKilled) : sentence("after a checkpoint"));
    } else if (stop_.requested()) {
        finish(StopReason::Interrupted,
            sentence(
                "The supervisor was asked to end (SIGTERM): shut-down, log-out, or a stop that the tracker could not take."));
    } else if (!pool_->restartLater(0)) {
        finish(
            StopReason::Error, lastFailure_.empty() ? sentence("The workers ended before the run did.") : lastFailure_);
    }
    return {};
}

Status Supervision::merge(const char* when)
{
    logInfo(std::string("merging the replicas: ") + when);
    auto merged = runMergeTask({ paths_, attempt_.value, config_.merge, mergeDevice_ }, [this] {
        (void)beat();
        return !stop_.requested() && !wasKilled() && files_.guard().checkReplaced().ok();
    });
    if (merged.ok() || merged.error().code == ErrorCode::Cancelled)
        return merged;
    if (checkpointsAreAway())
        return Error { ErrorCode::Io,
            sentence("%1 is not there. Is its disk mounted?", { utf8Text(paths_.checkpointsFolder()) }) };
    auto verdict = verifyHeads(paths_, file_, ledger_, false); // weights that are not whole are the reason to tell
    return !verdict.ok() || verdict.value().refusal.empty() ? merged
                                                            : Error { ErrorCode::Corrupt, verdict.value().refusal };
}

StopReason Supervision::endedBy(const Error& error) const
{
    if (error.code != ErrorCode::Cancelled && !(error.code == ErrorCode::Busy && stop_.requested()))
        return StopReason::Error;
    return stop_.requested() ? StopReason::Interrupted : StopReason::User;
}

/// Also where the loop that obeys is not reached any more.
bool Supervision::wasKilled()
{
    const auto totals = reader_.totals();
    return totals.ok() && totals.value().desired == DesiredState::Kill;
}

void Supervision::finish(StopReason reason, const Message& detail)
{
    over_ = true;
    if (pool_)
        pool_->stopFeeder();
    const bool isReplaced = !files_.guard().checkReplaced().ok();
    if (!isReplaced)
        if (auto status = keep_.finish(ledger_, kKeepPatience); !status.ok())
            logWarning(status.error().message);
    (void)beat(); // the time since the last one was active too
    failPoint("supervisor.ending");
    auto recorded = ledger_.endAttempt(attempt_, reason, detail);
    if (!recorded.ok() && isForLimit(recorded.error().message)) {
        (void)ledger_.emptyWal(); // one that begins anew may have room for it below the limit
        recorded = ledger_.endAttempt(attempt_, reason, detail);
    }
    for (int tries = 0; !recorded.ok() && mayPass(recorded.error()) && tries < kRecordTries; ++tries) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        recorded = ledger_.endAttempt(attempt_, reason, detail);
    }
    if (!recorded.ok())
        logError(recorded.error().message);
    care_.atTheEnd(isReplaced);
    logInfo(attemptIsOver(attempt_.value) + inWords(reason) + (detail.empty() ? "" : ", " + detail));
}

} // namespace

Status runSupervisor(
    const RunPaths& paths, const RunConfig& wanted, const StopRequest& stop, const ResumeChoice& choice)
{
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? heldByAnother(paths) : lock.error();
    writeTrackersOrFail();
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY(refuseLinks(paths));
    FURROW_TRY(SupervisorLedger::migrate(paths.tracker(), lock.value()));
    FURROW_TRY_ASSIGN(auto ledger, SupervisorLedger::open(paths.tracker()));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY(checkTracker(paths, file, reader));
    FURROW_TRY_ASSIGN(auto guard, RunFolderGuard::watchWithWal(paths));
    return Supervision(
        paths, std::move(file), wanted, stop, std::move(ledger), std::move(reader), choice, std::move(guard))
        .run();
}

} // namespace furrow
