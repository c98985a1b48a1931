#include "ui/models/past_status.h"

#include "core/run/folder/attempt_config.h"
#include "core/run/status/tracker_config.h"
#include "ui/models/past_evaluation.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_parts.h"
#include "ui/models/past_skipped.h"
#include "ui/models/past_trainings.h"
#include "ui/models/past_workers.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace furrow {

namespace {

/// With at least one chunk that was begun.
std::int64_t visitedBlocks(std::int64_t epoch, std::int64_t wallNs, const std::vector<ClaimRow>& claims)
{
    std::set<std::int64_t> visited;
    for (const ClaimRow& claim : claims)
        if (claim.epoch == epoch && claim.startedWallNs != 0 && claim.startedWallNs <= wallNs)
            visited.insert(claim.block);
    return std::ssize(visited);
}

/// The epochs of that time, with the chunks as they were, and nothing that came later.
void takeEpochsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    std::vector<EpochRow> then;
    const SkippedThen skipped(wallNs, sources.tables, sources.left);
    for (const PastSources::Epoch& past : sources.epochs) {
        const auto now = std::find_if(status.epochs.begin(), status.epochs.end(),
            [&past](const EpochRow& epoch) { return epoch.epoch == past.epoch; });
        EpochRow epoch = now == status.epochs.end() ? EpochRow {} : *now;
        epoch.epoch = past.epoch;
        epoch.chunks = {};
        epoch.lost = {};
        epoch.partly = {};
        epoch.toParent = {};
        epoch.partlyLeftOut = {};
        epoch.rowsCommitted = {};
        epoch.samplesExcluded = 0;
        epoch.samplesAccepted = 0;
        epoch.unreadExcluded = 0; // cells do not know their rows
        epoch.unreadAccepted = 0;
        std::set<std::int64_t> blocks;
        std::set<std::int64_t> missing; // what is not there has a chunk that waits for it
        for (const ChunkCell& cell : past.cells) {
            blocks.insert(cell.block);
            if (cell.state == ChunkState::Pending)
                missing.insert(cell.block);
            ++epoch.chunks[cell.state];
            countApart(epoch, cell, skipped.windowsOf(cell.id));
        }
        const std::int64_t done = epoch.chunks[ChunkState::Committed] + epoch.chunks[ChunkState::Excluded]
            + epoch.chunks[ChunkState::Accepted];
        const auto closedNs = std::min(epoch.closedWallNs.value_or(wallNs), wallNs);
        epoch.closedWallNs
            = done == epoch.chunks.sum() ? std::optional(closedNs) : std::nullopt; // whatever became of it
        epoch.preparedBlocks = std::ssize(blocks) - std::ssize(missing);
        epoch.visitedBlocks = visitedBlocks(past.epoch, wallNs, sources.claims);
        epoch.completedBlocks = 0; // no view shows it
        then.push_back(std::move(epoch));
    }
    status.epochs = std::move(then);
}

/// The stopping rules of the attempt of that time. In the newest one those of now hold: somebody may have set them
/// since it began.
void takeRulesBack(RunStatus& status, const std::vector<AttemptRow>& attempts)
{
    const auto then = std::find_if(
        attempts.begin(), attempts.end(), [&](const AttemptRow& row) { return row.id.value == status.attempt; });
    if (then == attempts.end() || std::next(then) == attempts.end())
        return;
    if (const auto config = configOf(*then, status.file.config); config.ok())
        status.rules = stoppingRules(config.value());
}

void takeAttemptsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const LedgerTables& tables = *sources.tables;
    status.attempt = 0;
    status.activeSeconds = activeSecondsUntil(tables.active, wallNs);
    status.state = RunState::New;
    for (const AttemptRow& attempt : tables.attempts) {
        if (attempt.startedWallNs > wallNs)
            break;
        status.attempt = attempt.id.value;
        const auto over = overBy(attempt, wallNs, sources);
        const StopReason reason = attempt.endedWallNs ? attempt.reason : StopReason::Interrupted;
        status.stopReason = over ? reason : StopReason::None;
        status.endedWallNs = over.value_or(0);
        status.state = over ? stateAfter(reason) : sources.isPaused ? RunState::Paused : RunState::Running;
    }
    takeRulesBack(status, tables.attempts);
    status.checkpoints = 0;
    status.newestCheckpointWallNs = 0;
    const PartsThen parts(wallNs, &tables, sources.left);
    for (const auto& row : tables.checkpoints) {
        if (!parts.isThere(row.id, row.surviving))
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, row.wallNs);
    }
}

/// Of a run without a delta telemetry knows nothing of it; what is not stated now was not known better then.
void takePrivacyBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    if (status.privacy && !status.privacy->notStated.empty())
        return;
    if (!status.privacy || status.privacy->delta == 0 || !sources.telemetry->privacy) {
        status.privacy.reset();
        return;
    }
    status.privacy->participations = 0;
    status.privacy->epsilon = 0;
    for (const PrivacyPoint& point : *sources.telemetry->privacy) {
        if (point.wall * 1e9 > static_cast<double>(wallNs)
            || point.record.participations < status.privacy->participations)
            continue;
        status.privacy->participations = point.record.participations;
        status.privacy->epsilon = point.record.epsilon;
        status.privacy->delta = point.record.delta;
    }
}

} // namespace

void forgetTheLiving(RunStatus& status)
{
    status.supervised = false;
    status.supervisorPid = 0;
    status.supervisorStandsStill = false;
    status.hindrance.reset();
    status.dataWait.reset();
    status.tokensPerSecond = 0;
}

RunStatus statusAt(std::int64_t wallNs, const PastSources& sources)
{
    RunStatus status = sources.now;
    status.keepsEpochOpen.clear();
    status.lostCauses.clear();
    status.skipped.clear(); // takeSkippedBack() has it in the counts
    status.goneHolds.clear();
    for (const PastSources::Epoch& epoch : sources.epochs)
        std::copy_if(epoch.cells.begin(), epoch.cells.end(), std::back_inserter(status.goneHolds),
            [](const ChunkCell& cell) { return cell.holderGone; });
    status.reading.reset();
    status.poisonedCause = {};
    status.stopDetail = {};
    status.markedByHand = false; // nobody kept when
    std::erase_if(status.leftOut, [wallNs](const LeftOutPart& part) { return part.wallNs > wallNs; });
    status.evaluation.reset();
    status.answers.reset();
    status.lossWorkers = 0;
    status.endedWallNs = 0;
    status.loss = std::numeric_limits<double>::quiet_NaN();
    forgetTheLiving(status);
    status.lossIsGone = false;
    status.evidence = { QCoreApplication::translate("Replay", "As it was at %1, from the ledger and the telemetry.")
            .arg(wallTimeText(wallNs))
            .toStdString() };
    status.workers.clear();
    takeEpochsBack(status, wallNs, sources);
    takeClaimsBack(status, wallNs, sources);
    takeSkippedBack(status, wallNs, sources);
    if (sources.tables != nullptr) {
        takeAttemptsBack(status, wallNs, sources);
        takeProcessesBack(status, wallNs, sources);
    }
    if (sources.telemetry != nullptr) {
        takeWorkersBack(status, wallNs, sources);
        addWorkUnderWay(status, wallNs, sources);
        takePrivacyBack(status, wallNs, sources);
    }
    takeLossBack(status, wallNs, sources);
    takeEvaluationsBack(status, wallNs, sources);
    return status;
}

} // namespace furrow
