#include "core/run/supervise/merge_task.h"

#include "core/base/fail_point.h"
#include "core/base/link_refusal.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/config/worker_task.h"
#include "core/run/start/worker_check.h"

#include <chrono>

namespace furrow {

namespace {

constexpr int kTries = 3;

Status runOnce(const MergeTask& task, const std::function<bool()>& goOn, bool& worthAnother)
{
    ProcessOptions options;
    options.arguments = taskArguments(WorkerTask::Merge,
        { task.paths.folder().string(), "--method", toString(task.method), "--attempt", std::to_string(task.attempt),
            "--device", task.device, "--threads", std::to_string(cpuCount()) });
    options.outputFile = task.paths.logFile(task.attempt, "merge");
    FURROW_TRY_ASSIGN(const auto worker, workerProgram());
    FURROW_TRY(refuseLink(options.outputFile));
    auto child = ChildProcess::start(worker, options);
    if (!child.ok())
        return child.error().in(sentence("starting the merge"));
    failPoint("supervisor.merging");
    for (;;) {
        const auto exit = child.value().wait(std::chrono::seconds(1));
        if (exit && exit->exitCode == 0 && exit->signal == 0)
            return {};
        if (exit) {
            worthAnother = exit->signal != 0;
            return Error { ErrorCode::Internal,
                sentence("The merge ended with %1; see %2. The replicas are kept as they are; a resume merges them.",
                    { exit->describe(), options.outputFile.string() }) };
        }
        if (!goOn()) {
            child.value().killTree();
            worthAnother = false;
            return Error { ErrorCode::Cancelled,
                sentence("The merge was stopped. The replicas are kept as they are; a resume merges them.") };
        }
    }
}

} // namespace

Status runMergeTask(const MergeTask& task, const std::function<bool()>& goOn)
{
    Status status;
    for (int attempt = 0; attempt < kTries; ++attempt) {
        bool worthAnother = true;
        status = runOnce(task, goOn, worthAnother);
        if (status.ok() || !worthAnother)
            return status;
        logWarning(status.error().message);
    }
    return status;
}

} // namespace furrow
