#include "ui/models/shown_status.h"

#include "ui/models/past_skipped.h"
#include "ui/models/past_status.h"
#include "ui/models/past_trainings.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"

#include <QCoreApplication>
#include <algorithm>
#include <limits>

namespace furrow {

namespace {

SkippedThen shownSkipped(Workbench& bench)
{
    return { bench.replay().moment().value_or(0), bench.watcher().tables().get(), bench.replay().left() };
}

} // namespace

RunStatus lastKnownStatus(const RunStatus& last, std::int64_t readNs, const Message& problem)
{
    RunStatus status = last;
    status.state = RunState::Unknown;
    status.markedByHand = false;
    status.stopReason = StopReason::None;
    forgetTheLiving(status);
    status.evidence = { problem,
        QCoreApplication::translate("Words", "When last read, at %1, the run was: %2.")
            .arg(wallTimeText(readNs), stateWord(last).toLower())
            .toStdString() };
    for (WorkerStatus& worker : status.workers) {
        if (worker.alive)
            worker.endCause
                = QCoreApplication::translate("Words", "unknown since %1").arg(wallTimeText(readNs)).toStdString();
        worker.alive = false;
    }
    return status;
}

StatusPtr presentStatus(Workbench& bench)
{
    const StatusPtr& now = bench.watcher().status();
    if (!now || bench.watcher().problem().empty())
        return now;
    return std::make_shared<const RunStatus>(
        lastKnownStatus(*now, bench.watcher().lastReadNs(), bench.watcher().problem()));
}

StatusPtr shownStatus(Workbench& bench)
{
    const StatusPtr& now = bench.watcher().status();
    const auto moment = bench.replay().moment();
    if (!now || !moment)
        return presentStatus(bench);
    std::vector<PastSources::Epoch> epochs;
    for (const std::int64_t epoch : bench.replay().openEpochsAt(*moment))
        epochs.push_back({ epoch, bench.replay().cellsOf(epoch, *moment) });
    return std::make_shared<const RunStatus>(statusAt(*moment,
        { *now, epochs, bench.replay().left(), bench.claims().claims(), bench.watcher().tables().get(),
            bench.watcher().telemetry().get(), bench.replay().pausedAt(*moment) }));
}

std::map<ChunkId, std::int64_t> shownLeftOut(Workbench& bench)
{
    std::map<ChunkId, std::int64_t> windows;
    const auto moment = bench.replay().moment();
    const SkippedThen then = shownSkipped(bench);
    for (const SkippedChunk& chunk : then.chunks())
        if (const auto count = moment ? then.windowsOf(chunk) : chunk.windowsSkipped(); count > 0)
            windows[chunk.chunk] = count;
    return windows;
}

std::vector<ChunkId> shownUntrained(Workbench& bench)
{
    std::vector<ChunkId> untrained;
    const auto moment = bench.replay().moment();
    const SkippedThen then = shownSkipped(bench);
    for (const SkippedChunk& chunk : then.chunks())
        if (moment ? then.windowsOf(chunk) == chunk.windows : chunk.isCommittedUntrained())
            untrained.push_back(chunk.chunk);
    return untrained;
}

std::int64_t shownUntrainedChunks(Workbench& bench, const RunStatus& shown)
{
    const auto epochs = shownEpochs(shown);
    const auto untrained = shownUntrained(bench);
    return std::count_if(untrained.begin(), untrained.end(), [&epochs](ChunkId chunk) {
        const std::int64_t epoch = placeOf(chunk).epoch;
        return epochs && epoch >= epochs->first && epoch <= epochs->last;
    });
}

std::vector<ActiveStretch> activeStretches(Workbench& bench)
{
    const TablesPtr& tables = bench.watcher().tables();
    return tables ? tables->active : std::vector<ActiveStretch>();
}

std::optional<double> shownEvaluation(const StatusPtr& shown)
{
    if (!shown)
        return std::nullopt;
    if (shown->evaluation)
        return shown->evaluation->loss;
    return shown->supervised ? std::nullopt : std::optional(std::numeric_limits<double>::quiet_NaN());
}

std::optional<std::vector<LostTraining>> shownLost(Workbench& bench, const RunStatus& shown)
{
    const auto& claims = bench.claims().claims();
    if (claims.empty())
        return std::nullopt;
    const auto moment = bench.replay().moment();
    if (!moment)
        return lostTrainings(claims, shown.goneHolds);
    return lostAt(*moment, shown, { shown, {}, bench.replay().left(), claims, bench.watcher().tables().get() });
}

} // namespace furrow
