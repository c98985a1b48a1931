// merge: the heads of all replicas become one base, in the run itself (asked by the supervisor between attempts, or by
// a person on a run that nobody trains), or named checkpoints become new weights in exports/.

#include "core/train/tasks/tasks_torch.h"
#include "core/base/sentence.h"
#include "core/train/loop/training_session_torch.h"

#include "core/base/file_lock.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/stop_asked.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/run_links.h"
#include "core/run/start/recovery.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/train/weights/safetensors_torch.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

/// Nothing: as the run is configured.
std::optional<MergeMethod> methodOf(const TaskOptions& options) { return closedValue<MergeMethod>(options.method); }

Result<nlohmann::json> mergeHeads(const TaskOptions& options, std::int64_t attempt, SupervisorLedger& ledger)
{
    FURROW_TRY_ASSIGN(auto round, ledger.openMergeRound());
    TrainerOptions worker;
    worker.runFolder = options.runFolder;
    worker.worker = kNoWorker; // it trains nothing: status and lanes show it as a task, not as worker 0
    worker.attempt = attempt;
    worker.device = options.device;
    worker.threads = options.threads;
    worker.counting = options.counting;
    FURROW_TRY_ASSIGN(auto session, TrainingSession::open(worker, {}));
    FURROW_TRY_ASSIGN(auto merged, session->mergeOnly(round, methodOf(options)));
    return nlohmann::json { { "round", round }, { "checkpoint", merged } };
}

/// Nobody trains the run: the lock is free. An attempt of its own records who did it, and ends as the one before it
/// did: a finished run stays finished, a stopped one stopped.
Result<nlohmann::json> mergeByHand(const TaskOptions& options, const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto known, readRunFile(paths)); // no lock is made in a folder that is no run
    FURROW_TRY(beforeWritingInto(paths));
    FURROW_TRY(refuseLinks(paths));
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? Error { ErrorCode::Busy,
            sentence("%1 is being trained; it merges by itself. Stop it first to merge by hand.",
                { utf8Text(paths.folder()) }) }
                                                    : lock.error();
    if (const auto foreign = foreignLedger(paths.tracker(), known.runId); !foreign.empty()) // before it is changed
        return foreignRefusal(paths, foreign);
    const auto patience = patienceAloud(paths.tracker(), [] { return !stopAsked(); });
    FURROW_TRY(migrateTracker(paths, lock.value(), patience));
    FURROW_TRY_ASSIGN(auto opened, SupervisorLedger::open(paths.tracker()));
    opened.setPatience(patience);
    SupervisorLedger& ledger = opened;
    auto reader = LedgerReader::open(paths.tracker());
    FURROW_TRY_ASSIGN(auto attempts, reader.ok() ? reader.value().attempts() : reader.error());
    AttemptRow before;
    if (!attempts.empty())
        before = attempts.back();
    FURROW_TRY_ASSIGN(
        auto attempt, ledger.beginAttempt(thisProcess(), before.overridesJson.empty() ? "{}" : before.overridesJson));
    auto file = readRunFile(paths);
    FURROW_TRY_ASSIGN(auto guard, RunFolderGuard::watch(paths));
    GuardedFiles files(std::move(guard));
    auto put = file.ok() ? recoverRun(paths, file.value(), ledger, {}, files)
                         : file.error(); // a merge waits for every live worker: those of a crash are not
    auto merged = put.ok() ? mergeHeads(options, attempt.value, ledger) : Result<nlohmann::json>(put.error());
    const Message what = !merged.ok()           ? "a merge by hand failed"
        : merged.value().at("checkpoint") == "" ? "there was nothing to merge"
                                                : "merged by hand";
    const auto ended = ledger.endAttempt(attempt, before.endedWallNs ? before.reason : StopReason::Interrupted,
        before.detail.empty() ? what : before.detail + "; " + what);
    if (merged.ok() && !ended.ok())
        return ended.error();
    return merged;
}

std::vector<std::string> namesIn(const std::string& list)
{
    std::vector<std::string> names;
    std::string name;
    for (const char c : list + ",") {
        if (c != ',')
            name += c;
        else if (!name.empty())
            names.push_back(std::exchange(name, {}));
    }
    return names;
}

/// Named checkpoints into exports/merge-<random>/weights.safetensors. The run itself is not changed.
Result<nlohmann::json> mergeNamed(const TaskOptions& options)
{
    const auto names = namesIn(options.checkpoints);
    if (names.size() < 2)
        return Error { ErrorCode::InvalidArgument,
            sentence("--checkpoints needs two or more folder names, joined by commas.") };
    if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
        return Error { ErrorCode::InvalidArgument,
            sentence("--checkpoints names a checkpoint twice: it would count twice in the average.") };
    FURROW_TRY(beforeWritingInto(RunPaths(options.runFolder)));
    TaskOptions first = options;
    first.checkpoint = names.front();
    FURROW_TRY_ASSIGN(auto run, loadRun(first));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(run.setup.paths.tracker()));
    FURROW_TRY_ASSIGN(auto rows, reader.checkpoints());
    std::vector<MergeMember> members;
    std::string base;
    for (const auto& name : names) {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.record.folder == name; });
        if (row == rows.end() || row->removed)
            return Error { ErrorCode::InvalidArgument, sentence("the run has no checkpoint '%1'", { name }) };
        FURROW_TRY_ASSIGN(auto loaded, loadCheckpoint(run.setup.paths, run.setup.file.runId, row->record, {}));
        if (!members.empty() && loaded.state.base != base)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 and %2 do not grow from one base; an average of them would be garbage",
                    { name, names.front() }) };
        base = loaded.state.base;
        members.push_back({ name, std::move(loaded.weights), loaded.state.tokensSinceBase });
    }
    const MergeMethod method = methodOf(options).value_or(run.setup.config.merge);
    NamedTensors from;
    if (base.empty()) {
        FURROW_TRY_ASSIGN(auto start, newLearner(run.setup));
        from = frozenCopy(start->weights());
    } else {
        TaskOptions ofBase = options;
        ofBase.checkpoint = base;
        FURROW_TRY_ASSIGN(auto loaded, loadRun(ofBase));
        from = frozenCopy(loaded.learner->weights());
    }
    const auto& c = run.setup.config;
    FURROW_TRY_ASSIGN(auto merged, run.learner->merge(from, members, method, {}, c.outerLr, c.outerMomentum));
    const auto frozen = run.learner->frozenWeights(); // a folder without a manifest names no file beside it
    merged.weights.insert(merged.weights.end(), frozen.begin(), frozen.end());
    const auto folder = run.setup.paths.exportsFolder() / ("merge-" + randomHex(8));
    FURROW_TRY(realFileSystem().createFolders(folder));
    FURROW_TRY(
        writeSafetensors(merged.weights, { { "format", "pt" } }, realFileSystem(), folder / "weights.safetensors"));
    return nlohmann::json { { "folder", utf8Text(folder) }, { "members", names }, { "method", nameOf(method) },
        { "warnings", merged.warnings } };
}

} // namespace

Result<nlohmann::json> mergeTask(const TaskOptions& options)
{
    if (!options.method.empty() && methodOf(options).value_or(MergeMethod::None) == MergeMethod::None)
        return Error { ErrorCode::InvalidArgument,
            sentence("method is '%1', allowed is one of average, diloco.", { options.method }) };
    if (!options.checkpoints.empty())
        return mergeNamed(options);
    const RunPaths paths(options.runFolder);
    if (options.attempt == 0)
        return mergeByHand(options, paths);
    FURROW_TRY_ASSIGN(auto ledger, SupervisorLedger::open(paths.tracker()));
    ledger.setPatience(patienceAloud(paths.tracker(), [] { return !stopAsked(); }));
    return mergeHeads(options, options.attempt, ledger);
}

} // namespace furrow
