// merge: the heads of all replicas become one base, in the run itself (asked by the supervisor between attempts, or by a person
// on a run that nobody trains), or named checkpoints become new weights in exports/.

#include "core/train/loop/tasks_torch.h"
#include "core/base/sentence.h"
#include "core/train/loop/training_session_torch.h"

#include "core/base/file_lock.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/run/recovery.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/train/weights/safetensors_torch.h"

#include <algorithm>

namespace furrow {

namespace {

Result<nlohmann::json> mergeHeads(const TaskOptions& options, std::int64_t attempt, SupervisorLedger& ledger)
{
    auto round = ledger.openMergeRound();
    if (!round.ok())
        return round.error();
    TrainerOptions worker;
    worker.runFolder = options.runFolder;
    worker.worker = kNoWorker; // it trains nothing: status and lanes show it as a task, not as worker 0
    worker.attempt = attempt;
    worker.device = options.device;
    worker.threads = options.threads;
    worker.counting = options.counting;
    auto session = TrainingSession::open(worker, {});
    if (!session.ok())
        return session.error();
    auto merged = session.value()->mergeOnly(round.value(), options.method);
    if (!merged.ok())
        return merged.error();
    return nlohmann::json { { "round", round.value() }, { "checkpoint", merged.value() } };
}

/// Nobody trains the run: the lock is free. An attempt of its own records who did it, and ends as the one before it did: a finished
/// run stays finished, a stopped one stopped.
Result<nlohmann::json> mergeByHand(const TaskOptions& options, const RunPaths& paths)
{
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? Error { ErrorCode::Busy, sentence("%1 is being trained; it merges by itself. Stop it first to merge by hand.", { utf8Text(paths.folder()) }) } : lock.error();
    if (auto migrated = SupervisorLedger::migrate(paths.tracker(), lock.value()); !migrated.ok())
        return migrated.error();
    auto opened = SupervisorLedger::open(paths.tracker());
    if (!opened.ok())
        return opened.error();
    SupervisorLedger& ledger = opened.value();
    auto reader = LedgerReader::open(paths.tracker());
    auto attempts = reader.ok() ? reader.value().attempts() : reader.error();
    if (!attempts.ok())
        return attempts.error();
    AttemptRow before;
    if (!attempts.value().empty())
        before = attempts.value().back();
    auto attempt = ledger.beginAttempt(thisProcess(), before.overridesJson.empty() ? "{}" : before.overridesJson);
    if (!attempt.ok())
        return attempt.error();
    auto file = readRunFile(paths);
    auto put = file.ok() ? recoverRun(paths, file.value(), ledger) : file.error(); // a merge waits for every live worker: those of a crash are not
    auto merged = put.ok() ? mergeHeads(options, attempt.value().value, ledger) : Result<nlohmann::json>(put.error());
    const std::string what = !merged.ok() ? "a merge by hand failed" : merged.value().at("checkpoint") == "" ? "there was nothing to merge" : "merged by hand";
    const auto ended = ledger.endAttempt(attempt.value(), before.endedWallNs ? before.reason : StopReason::Interrupted, before.detail.empty() ? what : before.detail + "; " + what);
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
        return Error { ErrorCode::InvalidArgument, sentence("--checkpoints needs two or more folder names, joined by commas.") };
    TaskOptions first = options;
    first.checkpoint = names.front();
    auto run = loadRun(first);
    if (!run.ok())
        return run.error();
    auto reader = LedgerReader::open(run.value().setup.paths.tracker());
    if (!reader.ok())
        return reader.error();
    auto rows = reader.value().checkpoints();
    if (!rows.ok())
        return rows.error();
    std::vector<MergeMember> members;
    std::string base;
    for (const auto& name : names) {
        const auto row = std::find_if(rows.value().begin(), rows.value().end(), [&](const auto& r) { return r.record.folder == name; });
        if (row == rows.value().end() || row->removed)
            return Error { ErrorCode::NotFound, sentence("the run has no checkpoint '%1'", { name }) };
        auto loaded = loadCheckpoint(run.value().setup.paths, run.value().setup.file.runId, row->record, {});
        if (!loaded.ok())
            return loaded.error();
        if (!members.empty() && loaded.value().state.base != base)
            return Error { ErrorCode::InvalidArgument, sentence("%1 and %2 do not grow from one base; an average of them would be garbage", { name, names.front() }) };
        base = loaded.value().state.base;
        members.push_back({ name, std::move(loaded.value().weights), loaded.value().state.tokensSinceBase });
    }
    const std::string method = options.method.empty() ? run.value().setup.config.merge : options.method;
    NamedTensors from;
    if (base.empty()) {
        auto start = newLearner(run.value().setup);
        if (!start.ok())
            return start.error();
        from = frozenCopy(start.value()->weights());
    } else {
        TaskOptions ofBase = options;
        ofBase.checkpoint = base;
        auto loaded = loadRun(ofBase);
        if (!loaded.ok())
            return loaded.error();
        from = frozenCopy(loaded.value().learner->weights());
    }
    const auto& c = run.value().setup.config;
    auto merged = run.value().learner->merge(from, members, method, {}, c.outerLr, c.outerMomentum);
    if (!merged.ok())
        return merged.error();
    const auto frozen = run.value().learner->frozenWeights(); // a folder without a manifest names no file beside it
    merged.value().weights.insert(merged.value().weights.end(), frozen.begin(), frozen.end());
    const auto folder = run.value().setup.paths.exportsFolder() / ("merge-" + randomHex(8));
    if (auto made = realFileSystem().createFolders(folder); !made.ok())
        return made.error();
    if (auto written = writeSafetensors(merged.value().weights, { { "format", "pt" } }, realFileSystem(), folder / "weights.safetensors"); !written.ok())
        return written.error();
    return nlohmann::json { { "folder", utf8Text(folder) }, { "members", names }, { "method", method }, { "warnings", merged.value().warnings } };
}

} // namespace

Result<nlohmann::json> mergeTask(const TaskOptions& options)
{
    if (!options.method.empty() && options.method != "average" && options.method != "diloco")
        return Error { ErrorCode::InvalidArgument, sentence("method is '%1', allowed is one of average, diloco.", { options.method }) };
    if (!options.checkpoints.empty())
        return mergeNamed(options);
    const RunPaths paths(options.runFolder);
    if (options.attempt == 0)
        return mergeByHand(options, paths);
    auto ledger = SupervisorLedger::open(paths.tracker());
    return ledger.ok() ? mergeHeads(options, options.attempt, ledger.value()) : Result<nlohmann::json>(ledger.error());
}

} // namespace furrow
