// How this works: one loop, twenty times a second. Each turn looks at the processes first (a death frees claims at
// once), then at the leases, then lets the ledger advance, and every second at what people want. Everything it learns
// goes into the tracker; it keeps no truth of its own, so it may be killed at any instant.

#include "core/run/supervise/supervisor.h"

#include "core/base/end_patience.h"
#include "core/base/fail_point.h"
#include "core/base/fault_injection.h"
#include "core/base/file_lock.h"
#include "core/base/format.h"
#include "core/base/is_there.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/config/gaussian_privacy.h"
#include "core/config/schema.h"
#include "core/device/gpu.h"
#include "core/run/audit/begun_with.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/run_links.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/start/recovery.h"
#include "core/run/start/replica_heads.h"
#include "core/run/start/resume_effect.h"
#include "core/run/start/wrong_transfers.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/end_words.h"
#include "core/run/status/own_process.h"
#include "core/run/status/privacy_spent.h"
#include "core/run/status/run_holder.h"
#include "core/run/status/tracker_config.h"
#include "core/run/supervise/supervision.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "core/tracker/sqlite/write_or_fail.h"
#include "core/tracker/training_notes.h"
#include "core/tracker/worker_ends.h"

#include <nlohmann/json.hpp>

#include <thread>

namespace furrow {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(50);
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kStopPatience = std::chrono::minutes(10);

double awaySeconds() { return faultNumber("FURROW_AWAY_PATIENCE_S", 30 * 60); }

std::string overridesJson(const RunConfig& frozen, const RunConfig& wanted)
{
    nlohmann::json json = nlohmann::json::object();
    const auto all = toJson(wanted);
    for (const auto& change : changes(frozen, wanted))
        json[change.setting->key] = all.at(change.setting->key);
    return json.dump();
}

} // namespace

Status Supervision::run()
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

bool Supervision::hasStoppedTooLong() const
{
    return stopping_ && clock_.monotonicNs() - stopBeganNs_ > std::chrono::nanoseconds(kStopPatience).count();
}

bool Supervision::isLeftAlone() const
{
    return stopping_ && pool_ && !pool_->anyWorkerAlive()
        && static_cast<double>(clock_.monotonicNs() - stopBeganNs_) > endPatienceSeconds() * kSecondNs;
}

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
    FURROW_TRY(ledger_.forgetDesired());
    FURROW_TRY_ASSIGN(const auto onDisk, newestAttemptOnDisk(paths_));
    FURROW_TRY_ASSIGN(auto attempt, ledger_.beginAttempt(thisProcess(), overridesJson(file_.config, config_), onDisk));
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
    FURROW_TRY(retryWrongTransfers(paths_, ledger_));
    FURROW_TRY_ASSIGN(const bool isMadeAnew, reader_.isMadeAnew()); // it may have become so just now
    FURROW_TRY(checkEpsilonIsKnown(config_, isMadeAnew));
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

/// A disk that is full or away may be there again, who keeps all others from reading the tracker lets go of it, and
/// workers wait for that with what they trained: a turn that failed is taken again, each second.
bool Supervision::outlastsDisk(const Error& error)
{
    if (!(mayPass(error) || error.code == ErrorCode::Busy) || !files_.guard().checkReplaced().ok() || wasKilled())
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
    FURROW_TRY(seeHeads());
    FURROW_TRY(endStandstill());
    const bool isGroupAsked = config_.parallel == ParallelMode::Data && heads_.isOpen(); // its ranks start as one
    if (!checkpointsAreAway() && !isGroupAsked) // who begins reads one first
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
    const bool isAnyToStart = pool_->anyRestartPlanned() || (heads_.isOpen() && !stopping_);
    if (!pool_->anyWorkerAlive() && !isAnyToStart)
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
    const auto awaited = whoIsAwaited();
    auto status = ledger_.heartbeat(thisProcess(), trained, awaited.ok() ? awaited.value() : Message());
    if (status.ok()) // the time without one is given back to the workers, which could not write either
        stalls_.onTurn();
    return status;
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

Status runSupervisor(
    const RunPaths& paths, const RunConfig& wanted, const StopRequest& stop, const ResumeChoice& choice)
{
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok() && lock.error().code == ErrorCode::Busy
        && !staysHeld(paths)) // by a process that has ended meanwhile
        lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? heldByAnother(paths) : lock.error();
    writeTrackersOrFail();
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY(refuseLinks(paths));
    if (const auto foreign = foreignLedger(paths.tracker(), file.runId); !foreign.empty()) // before it is changed
        return foreignRefusal(paths, foreign);
    FURROW_TRY(
        migrateTracker(paths, lock.value(), patienceAloud(paths.tracker(), [&stop] { return !stop.requested(); })));
    FURROW_TRY_ASSIGN(auto ledger, SupervisorLedger::open(paths.tracker()));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY(checkTracker(paths, file, reader));
    FURROW_TRY_ASSIGN(const bool isMadeAnew, reader.isMadeAnew());
    FURROW_TRY(checkEpsilonIsKnown(wanted, isMadeAnew));
    FURROW_TRY_ASSIGN(auto guard, RunFolderGuard::watchWithWal(paths));
    return Supervision(
        paths, std::move(file), wanted, stop, std::move(ledger), std::move(reader), choice, std::move(guard))
        .run();
}

} // namespace furrow
