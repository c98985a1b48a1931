// How this works: one loop, ten times a second. Each turn looks at the processes first (a death frees claims at once), then at the
// leases, then lets the ledger advance, and every second at what people want. Everything it learns goes into the tracker; it
// keeps no truth of its own, so it may be killed at any instant.

#include "core/run/supervisor.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/config/schema.h"
#include "core/device/gpu.h"
#include "core/run/merge_timer.h"
#include "core/run/recovery.h"
#include "core/run/worker_pool.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace furrow {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(50);
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kStopPatience = std::chrono::minutes(10);
constexpr std::int64_t kSnapshotEveryNs = 300 * kSecondNs;

std::string overridesJson(const RunConfig& frozen, const RunConfig& wanted)
{
    nlohmann::json json = nlohmann::json::object();
    const auto all = toJson(wanted);
    for (const auto& change : changes(frozen, wanted))
        json[change.setting->key] = all.at(change.setting->key);
    return json.dump();
}

/// One process at a time trains on a GPU: a kernel lock named after its UUID, freed when this process dies.
Result<std::vector<FileLock>> lockGpus(const std::vector<WorkerPlacement>& placements)
{
    std::vector<FileLock> locks;
    for (const auto& place : placements) {
        if (place.device == "cpu")
            continue;
        auto lock = FileLock::tryLock(std::filesystem::temp_directory_path() / ("furrow-" + place.device + ".lock"));
        if (!lock.ok())
            return Error { lock.error().code, place.deviceName + " (" + place.device + ") is in use by another run. Choose another device, or stop that run first." };
        locks.push_back(std::move(lock).value());
    }
    return locks;
}

class Supervision {
public:
    Supervision(RunPaths paths, RunFile file, RunConfig config, const StopRequest& stop, SupervisorLedger ledger, LedgerReader reader)
        : paths_(std::move(paths))
        , file_(std::move(file))
        , config_(std::move(config))
        , stop_(stop)
        , ledger_(std::move(ledger))
        , reader_(std::move(reader))
    {
    }

    Status run()
    {
        if (auto status = begin(); !status.ok())
            return status;
        auto status = watch();
        pool_->killAll();
        if (!status.ok())
            finish(StopReason::Error, status.error().message);
        return status;
    }

private:
    Status begin();
    Status mergeWhenWorkersChanged(int workers);
    Status watch();
    Status turn();
    Status seeDeaths();
    Status onWorkerEnd(const WorkerPool::Ended& ended);
    Status stopHung();
    Status everySecond();
    Status obey(DesiredState desired);
    Status openMergeWhenDue(const LedgerReader::Totals& totals);
    Status endOrRestart();
    Status mergeNow(const char* when);
    void finish(StopReason reason, const std::string& detail);

    RunPaths paths_;
    RunFile file_;
    RunConfig config_;
    const StopRequest& stop_;
    SupervisorLedger ledger_;
    LedgerReader reader_;
    const Clock& clock_ = systemClock();
    std::vector<FileLock> gpuLocks_;
    std::unique_ptr<WorkerPool> pool_;
    std::unique_ptr<MergeTimer> mergeTimer_;
    AttemptId attempt_;
    StopReason stopReason_ = StopReason::None; ///< of the ledger
    DesiredState desired_ = DesiredState::Run;
    bool stopping_ = false;
    bool over_ = false;
    std::string lastFailure_;
    std::int64_t stopBeganNs_ = 0;
    std::int64_t nextSecondNs_ = 0;
    std::int64_t nextSnapshotNs_ = 0;
};

Status Supervision::begin()
{
    auto notes = recoverRun(paths_, file_, ledger_);
    if (!notes.ok())
        return notes.error();
    for (const auto& note : notes.value())
        logWarning(note);
    auto monitor = GpuMonitor::open();
    auto placements = placeWorkers(config_, monitor.ok() ? monitor.value().read() : std::vector<Gpu> {}, cpuCount());
    if (!placements.ok())
        return placements.error();
    auto locks = lockGpus(placements.value());
    if (!locks.ok())
        return locks.error();
    gpuLocks_ = std::move(locks).value();
    if (auto status = ledger_.setStoppingRules(stoppingRules(config_)); !status.ok())
        return status;
    if (auto status = ledger_.setDesired(DesiredState::Run); !status.ok())
        return status;
    auto attempt = ledger_.beginAttempt(thisProcess(), overridesJson(file_.config, config_));
    if (!attempt.ok())
        return attempt.error();
    attempt_ = attempt.value();
    const int workers = static_cast<int>(placements.value().size());
    if (auto status = mergeWhenWorkersChanged(workers); !status.ok())
        return status;
    if (auto status = ledger_.setActiveReplicas(workers); !status.ok())
        return status;
    auto totals = reader_.totals();
    if (!totals.ok())
        return totals.error();
    mergeTimer_ = std::make_unique<MergeTimer>(config_, workers, totals.value().tokens);
    pool_ = std::make_unique<WorkerPool>(paths_, attempt_.value, std::move(placements).value(), static_cast<int>(config_.maxRestarts), clock_);
    logInfo("attempt " + std::to_string(attempt_.value) + " begins with " + std::to_string(workers) + " workers");
    return pool_->startAll();
}

/// decisions.md rule 12: replicas of another number of workers become one base first, so that nothing is left behind.
Status Supervision::mergeWhenWorkersChanged(int workers)
{
    auto replicas = reader_.replicas();
    if (!replicas.ok())
        return replicas.error();
    const auto withWork = std::count_if(replicas.value().begin(), replicas.value().end(), [](const auto& r) { return r.head && !r.parked; });
    if (withWork < 2 || withWork == workers || config_.merge == "none")
        return {};
    return mergeNow("the number of workers changed");
}

Status Supervision::watch()
{
    while (!over_) {
        if (auto status = turn(); !status.ok())
            return status;
        if (!over_)
            stop_.waitFor(stopping_ ? kTurn / 2 : kTurn);
    }
    return {};
}

Status Supervision::turn()
{
    if (auto status = seeDeaths(); !status.ok())
        return status;
    if (auto status = pool_->startDue(); !status.ok())
        return status;
    auto advance = ledger_.advance();
    if (!advance.ok())
        return advance.error();
    if (advance.value().epochClosed)
        logInfo("an epoch is complete");
    stopReason_ = advance.value().stop;
    if (clock_.monotonicNs() >= nextSecondNs_) {
        nextSecondNs_ = clock_.monotonicNs() + kSecondNs;
        if (auto status = everySecond(); !status.ok())
            return status;
    }
    if (stop_.requested() && !stopping_) {
        logInfo("asked to end: workers checkpoint and stop");
        stopping_ = true;
        stopBeganNs_ = clock_.monotonicNs();
        pool_->requestStop();
    }
    if (!pool_->anyWorkerAlive() && !pool_->anyRestartPlanned())
        return endOrRestart();
    return {};
}

Status Supervision::seeDeaths()
{
    for (const auto& ended : pool_->poll())
        if (auto status = onWorkerEnd(ended); !status.ok())
            return status;
    return {};
}

Status Supervision::onWorkerEnd(const WorkerPool::Ended& ended)
{
    const std::string who = ended.worker < 0 ? "The feeder" : "Worker " + std::to_string(ended.worker);
    const bool inOrder = ended.exit.signal == 0 && ended.exit.exitCode == 0;
    auto live = ledger_.live();
    if (!live.ok())
        return live.error();
    for (const auto& incarnation : live.value()) {
        if (!(incarnation.process == ended.process))
            continue;
        auto freed = ledger_.revoke(incarnation.incarnation, ended.exit.describe());
        if (!freed.ok())
            return freed.error();
        logWarning(who + " ended (" + ended.exit.describe() + "); " + std::to_string(freed.value()) + " chunks are free again.");
    }
    if (inOrder || stopping_)
        return {};
    const auto log = paths_.logFile(attempt_.value, ended.worker < 0 ? "feeder" : "worker-" + std::to_string(ended.worker));
    lastFailure_ = who + " ended with " + ended.exit.describe() + ". The last line of " + log.string() + " is: " + lastLogLine(log);
    if (!pool_->restartLater(ended.worker))
        logError(lastFailure_ + " The limit of " + std::to_string(config_.maxRestarts) + " restarts is reached.");
    return {};
}

Status Supervision::stopHung()
{
    auto expired = ledger_.expired();
    if (!expired.ok())
        return expired.error();
    for (const auto& hung : expired.value()) {
        logWarning("Worker " + std::to_string(hung.worker) + " made no progress within its lease and is stopped.");
        if (auto freed = ledger_.revoke(hung.incarnation, "no progress within its lease"); !freed.ok())
            return freed.error();
        killProcessTree(hung.process);
    }
    return {};
}

Status Supervision::everySecond()
{
    if (auto status = ledger_.heartbeat(thisProcess()); !status.ok())
        return status;
    if (auto status = stopHung(); !status.ok())
        return status;
    auto totals = reader_.totals();
    if (!totals.ok())
        return totals.error();
    if (auto status = obey(totals.value().desired); !status.ok())
        return status;
    if (auto status = openMergeWhenDue(totals.value()); !status.ok())
        return status;
    if (auto status = applyKeepPolicy(paths_, ledger_, static_cast<int>(config_.keepLast)); !status.ok())
        logWarning(status.error().message);
    if (auto status = ledger_.checkpointWal(); !status.ok())
        logWarning(status.error().message);
    if (clock_.monotonicNs() >= nextSnapshotNs_) {
        nextSnapshotNs_ = clock_.monotonicNs() + kSnapshotEveryNs;
        if (auto status = ledger_.publishSnapshot(paths_.trackerSnapshot()); !status.ok())
            logWarning(status.error().message);
    }
    return {};
}

Status Supervision::obey(DesiredState desired)
{
    const bool changed = desired != desired_;
    desired_ = desired;
    if (changed)
        logInfo("desired state: " + toString(desired));
    if (desired == DesiredState::Kill)
        pool_->killAll();
    if ((desired == DesiredState::Stop || desired == DesiredState::Kill) && !stopping_) {
        stopping_ = true;
        stopBeganNs_ = clock_.monotonicNs();
        pool_->requestStop();
    }
    if (stopping_ && clock_.monotonicNs() - stopBeganNs_ > std::chrono::nanoseconds(kStopPatience).count()) {
        logWarning("workers did not stop in ten minutes and are killed");
        pool_->killAll();
    }
    return {};
}

Status Supervision::openMergeWhenDue(const LedgerReader::Totals& totals)
{
    if (stopping_ || stopReason_ != StopReason::None || desired_ != DesiredState::Run)
        return {};
    auto epochs = reader_.epochs();
    if (!epochs.ok() || epochs.value().empty())
        return {};
    if (!mergeTimer_->due(totals.tokens, epochs.value().back()))
        return {};
    mergeTimer_->opened(totals.tokens);
    auto round = ledger_.openMergeRound();
    if (!round.ok())
        return round.error();
    return {};
}

/// No worker is alive. Either the attempt is over, or they ended too early and start again.
Status Supervision::endOrRestart()
{
    if (stopReason_ != StopReason::None) {
        if (config_.merge != "none")
            if (auto status = mergeNow("the run is at its end"); !status.ok())
                logError(status.error().message);
        finish(stopReason_, "");
    } else if (desired_ == DesiredState::Stop || desired_ == DesiredState::Kill) {
        finish(StopReason::User, desired_ == DesiredState::Kill ? "killed" : "stopped after a checkpoint");
    } else if (stop_.requested()) {
        finish(StopReason::Interrupted, "The supervisor was asked to end (SIGTERM): shut-down or log-out.");
    } else if (!pool_->restartLater(0)) {
        finish(StopReason::Error, lastFailure_.empty() ? "The workers ended before the run did." : lastFailure_);
    }
    return {};
}

/// All active replicas with work become one base. A short process of its own: the supervisor never links libtorch.
Status Supervision::mergeNow(const char* when)
{
    auto replicas = reader_.replicas();
    if (!replicas.ok())
        return replicas.error();
    std::vector<std::int64_t> heads;
    for (const auto& replica : replicas.value())
        if (replica.head && !replica.parked && std::find(heads.begin(), heads.end(), replica.head->value) == heads.end())
            heads.push_back(replica.head->value);
    if (heads.size() < 2)
        return {};
    logInfo(std::string("merging ") + std::to_string(heads.size()) + " replicas: " + when);
    ProcessOptions options;
    options.arguments = { "--role", "task", "--task", "merge", paths_.folder().string(), "--method", config_.merge, "--attempt", std::to_string(attempt_.value) };
    options.outputFile = paths_.logFile(attempt_.value, "merge");
    auto worker = executablePath().parent_path() / "furrow-worker";
    worker += executablePath().extension();
    auto child = ChildProcess::start(worker, options);
    if (!child.ok())
        return child.error().in("starting the merge");
    for (;;) {
        const auto exit = child.value().wait(std::chrono::seconds(1));
        (void)ledger_.heartbeat(thisProcess());
        if (exit && exit->exitCode == 0 && exit->signal == 0)
            return {};
        if (exit)
            return Error { ErrorCode::Internal, "The merge ended with " + exit->describe() + "; see " + options.outputFile.string() + ". The replicas are kept as they are." };
    }
}

void Supervision::finish(StopReason reason, const std::string& detail)
{
    over_ = true;
    if (pool_)
        pool_->stopFeeder();
    if (auto status = applyKeepPolicy(paths_, ledger_, static_cast<int>(config_.keepLast)); !status.ok())
        logWarning(status.error().message);
    if (auto status = ledger_.endAttempt(attempt_, reason, detail); !status.ok())
        logError(status.error().message);
    (void)ledger_.checkpointWal();
    (void)ledger_.publishSnapshot(paths_.trackerSnapshot());
    logInfo("attempt " + std::to_string(attempt_.value) + " is over: " + toString(reason) + (detail.empty() ? "" : ", " + detail));
}

} // namespace

StoppingRules stoppingRules(const RunConfig& config)
{
    StoppingRules rules;
    rules.steps = config.steps;
    rules.tokens = config.tokens;
    rules.hours = config.hours;
    rules.epochs = config.stopAfterEpoch ? 1 : config.iterate ? 0 : config.epochs;
    rules.blocks = config.stopAfterBlocks;
    return rules;
}

Status runSupervisor(const RunPaths& paths, const RunConfig& wanted, const StopRequest& stop)
{
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy
            ? Error { ErrorCode::Busy, "Another supervisor holds " + paths.folder().string() + ". 'furrowctl status' says which; stop it first." }
            : lock.error();
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto ledger = SupervisorLedger::open(paths.tracker());
    if (!ledger.ok())
        return ledger.error();
    auto reader = LedgerReader::open(paths.tracker());
    if (!reader.ok())
        return reader.error();
    auto id = reader.value().runId();
    if (!id.ok())
        return id.error();
    if (id.value() != file.value().runId)
        return Error { ErrorCode::Corrupt, paths.tracker().string() + " belongs to run " + id.value() + ", run.json says " + file.value().runId + ". Put the right tracker back." };
    return Supervision(paths, std::move(file).value(), wanted, stop, std::move(ledger).value(), std::move(reader).value()).run();
}

} // namespace furrow
