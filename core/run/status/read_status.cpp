#include "core/run/status/run_status.h"

#include "core/base/sentence.h"
#include "core/data/plan/held_out.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/memory_file.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/attempt_times.h"
#include "core/run/status/data_evidence.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/keeps_open.h"
#include "core/run/status/known_evaluation.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/not_saved.h"
#include "core/run/status/samples_left_out.h"
#include "core/run/status/verdict.h"
#include "core/run/status/viewpoint.h"
#include "core/run/status/whose_numbers.h"

#include <algorithm>

namespace furrow {

namespace {

/// All of the ledger that the status is made of.
struct LedgerRows {
    std::vector<AttemptRow> attempts;
    std::vector<IncarnationRow> incarnations;
    std::vector<EpochRow> epochs;
    CheckpointRows checkpoints;
    LedgerReader::Totals totals;
    /// The newest; nullopt: the run was never started.
    std::optional<AttemptRow> attempt() const
    {
        return attempts.empty() ? std::nullopt : std::optional(attempts.back());
    }
};

Result<LedgerRows> readRows(LedgerReader& ledger)
{
    LedgerRows rows;
    FURROW_TRY_ASSIGN(rows.attempts, ledger.attempts());
    FURROW_TRY_ASSIGN(rows.incarnations, ledger.incarnations());
    FURROW_TRY_ASSIGN(rows.epochs, ledger.epochs());
    FURROW_TRY_ASSIGN(rows.checkpoints, ledger.checkpoints());
    FURROW_TRY_ASSIGN(rows.totals, ledger.totals());
    return rows;
}

void addTotals(RunStatus& status, const LedgerRows& rows, const Viewpoint& view)
{
    const LedgerReader::Totals& totals = rows.totals;
    status.clockAheadNs = view.clockAheadNs;
    if (const auto attempt = rows.attempt()) {
        status.attempt = attempt->id.value;
        status.endedWallNs = attempt->endedWallNs.value_or(totals.supervisorHeartbeatWallNs);
    }
    status.epochs = rows.epochs;
    status.steps = totals.steps;
    status.tokens = totals.tokens;
    status.activeSeconds = totals.activeSeconds;
    status.rules = totals.rules;
    status.trainedBlocks = totals.trainedBlocks;
    status.data = totals.data;
}

/// The attempt whose workers are shown: one that is over and had none, because it merged or found no data, tells of
/// none of what was trained before it.
AttemptId attemptOfWorkers(const LedgerRows& rows)
{
    const auto attempt = rows.attempt();
    const auto newest = std::find_if(rows.incarnations.rbegin(), rows.incarnations.rend(),
        [](const IncarnationRow& row) { return row.worker >= 0; });
    if (attempt && attempt->endedWallNs && newest != rows.incarnations.rend())
        return newest->attempt;
    return attempt ? attempt->id : AttemptId {};
}

Status addWorkers(
    RunStatus& status, const RunPaths& paths, LedgerReader& ledger, const LedgerRows& rows, const Viewpoint& view)
{
    const AttemptId attempt = attemptOfWorkers(rows);
    status.workers = workersOf(rows.incarnations, attempt, view);
    FURROW_TRY(markGoneLosses(status.workers, attempt, ledger, rows.incarnations));
    const MeanLoss mean = meanLossOf(status.workers);
    status.loss = mean.loss;
    status.lossWorkers = mean.workers;
    status.lossIsGone = mean.isGone;
    for (auto& worker : status.workers)
        worker.memory = readMemory(paths.memoryFile(worker.worker));
    return {};
}

void addCheckpoints(RunStatus& status, const LedgerRows& rows)
{
    AttemptTimes times;
    times.know(rows.attempts, nowOfRun(status));
    for (const auto& row : rows.checkpoints) {
        const auto writer = std::find_if(rows.incarnations.begin(), rows.incarnations.end(),
            [&row](const IncarnationRow& one) { return one.id == row.incarnation; });
        const auto wallNs = writer == rows.incarnations.end() ? row.wallNs : times.at(writer->attempt, row.wallNs);
        if (row.removed || row.damaged || !row.surviving)
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, wallNs);
    }
}

void addEvaluation(
    RunStatus& status, const RunPaths& paths, const RunConfig& config, const LedgerRows& rows, const Viewpoint& view)
{
    status.evaluated = evaluatedText(paths.evaluationFile(), config);
    auto known = knownEvaluation(paths, rows.checkpoints, status.evaluated, [&](const ToldEvaluation& one) {
        return areWeightsThere(
            one, rows.checkpoints, rows.incarnations, [&view](const auto& row) { return view.isAlive(row); },
            [](const auto& row) { return row.surviving; });
    });
    if (auto& loss = known.loss) {
        const bool isNewest = loss->checkpoint != 0 && !loss->superseded;
        loss->beforeEndOf
            = unfinishedEpoch(status.epochs, isNewest ? std::nullopt : wholeUntil(*loss, rows.checkpoints));
    }
    status.evaluation = std::move(known.loss);
    status.answers = std::move(known.answers);
}

/// Of the moment of `rows`: a chunk that a worker begins between two reads would be taken for one that died again.
Status addLost(RunStatus& status, LedgerReader& ledger, const LedgerRows& rows, const Viewpoint& view)
{
    FURROW_TRY_ASSIGN(status.goneHolds, heldByGone(ledger, rows.incarnations, view));
    FURROW_TRY_ASSIGN(const auto lost, countChunksApart(status.epochs, status.goneHolds, status.attempt > 0, ledger));
    if (auto causes = lostCauses(status.epochs, lost, ledger); causes.ok())
        status.lostCauses = std::move(causes).value();
    return {};
}

void addChunks(RunStatus& status, LedgerReader& ledger)
{
    status.skipped = skippedByEpoch(ledger);
    takeOutLeftOut(status.epochs, status.skipped);
    status.keepsEpochOpen = whatKeepsOpen(status.epochs);
    if (std::any_of(status.epochs.begin(), status.epochs.end(),
            [](const EpochRow& epoch) { return epoch.chunks[ChunkState::Poisoned] > 0; }))
        if (auto cause = ledger.newestPoisonedCause(); cause.ok())
            status.poisonedCause = std::move(cause).value();
}

/// The ledger counts what a worker trains when the chunk ends, and what one that is gone took with it until the next
/// attempt frees it.
Status settleTotals(RunStatus& status, LedgerReader& ledger, const LedgerRows& rows, const Viewpoint& view)
{
    for (const auto& row : rows.incarnations) {
        if (!row.live)
            continue;
        const bool isAlive = view.isAlive(row);
        FURROW_TRY_ASSIGN(const auto work, isAlive ? ledger.underWayOf(row) : ledger.unsavedOf(row.id));
        status.steps += isAlive ? work.steps : -work.steps;
        status.tokens += isAlive ? work.tokens : -work.tokens;
    }
    return {};
}

/// What would count too few trainings; "": the ledger knows all of them.
Result<Message> whyNoEpsilon(const RunPaths& paths, const std::string& runId, LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const bool isMadeAnew, ledger.isMadeAnew());
    if (isMadeAnew)
        return sentence(kNoEpsilonOfMadeAnew);
    if (!ledger.standsInBecause().message.empty())
        return sentence("No epsilon is stated: the tracker cannot be read, and its snapshot may be older.");
    FURROW_TRY_ASSIGN(const auto older, olderThanItsRecords(paths, runId, ledger));
    return older.empty() ? older : sentence("No epsilon is stated:") + " " + older;
}

/// As a person accepted when the newest attempt began.
void sayWhatItGoesOnWithout(RunStatus& status, LedgerReader& ledger)
{
    if (auto what = ledger.goesOnWithout(); what.ok() && !what.value().empty())
        status.evidence.push_back(std::move(what).value());
}

/// Workers that a disk refuses train on for a while, and then wait. As they kept it themselves.
void sayWhoCannotSave(RunStatus& status, LedgerReader& ledger)
{
    const auto what = status.supervised ? ledger.notSaved() : Result<std::vector<Message>>(std::vector<Message>());
    if (!what.ok() || what.value().empty())
        return;
    status.evidence.insert(status.evidence.end(), what.value().begin(), what.value().end());
    if (!status.hindrance)
        status.hindrance = { sentence("its checkpoints cannot be written"), what.value().front() };
}

/// Files of another user, as a rule: training goes on, and the disk fills up.
void sayWhatCannotGo(RunStatus& status, LedgerReader& ledger)
{
    auto why = ledger.notRemoved();
    if (!why.ok() || why.value().empty())
        return;
    status.notRemoved = std::move(why).value();
    status.evidence.push_back(status.notRemoved);
}

} // namespace

Result<RunStatus> readStatus(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    return readStatus(paths, ledger);
}

Result<RunStatus> readStatus(const RunPaths& paths, LedgerReader& ledger)
{
    RunStatus status;
    FURROW_TRY_ASSIGN(status.file, readRunFile(paths));
    status.folder = paths.folder().string();
    FURROW_TRY_ASSIGN(auto moment, ledger.moment());
    FURROW_TRY_ASSIGN(const LedgerRows rows, readRows(ledger));
    const auto attempt = rows.attempt();
    const auto latest = latestConfig(rows.attempts, status.file.config);
    const RunConfig& config = latest.ok() ? latest.value() : status.file.config;
    auto view = viewpointOf(paths, rows.totals, attempt);
    view.isOfSnapshot = !ledger.standsInBecause().message.empty();
    addTotals(status, rows, view);
    FURROW_TRY(addLost(status, ledger, rows, view));
    FURROW_TRY(settleTotals(status, ledger, rows, view));
    moment.end();
    FURROW_TRY(addWorkers(status, paths, ledger, rows, view));
    addCheckpoints(status, rows);
    addEvaluation(status, paths, config, rows, view);
    if (config.noiseMultiplier > 0) {
        FURROW_TRY_ASSIGN(const std::int64_t participations, ledger.participations());
        FURROW_TRY_ASSIGN(const Message notStated, whyNoEpsilon(paths, status.file.runId, ledger));
        status.privacy = privacySpent(config, participations, notStated);
    }
    addChunks(status, ledger);
    status.reading = readReading(paths);
    deriveState(status, paths, rows.totals, attempt, rows.incarnations, view);
    // What follows adds to the evidence, in the order in which a person reads it.
    sayWhereItEnds(status, config);
    sayWhatTheFeederDoes(status, rows.totals.feederDoing);
    sayThatItWaitsForData(status);
    if (status.state == RunState::Running && status.reading && isSlow(status.reading->doing))
        status.keepsEpochOpen.push_back(sentence(kFeederDoes, { status.reading->doing }));
    sayHowClocksDiffer(status);
    sayWhoseProcessesLive(status, rows.incarnations, view);
    sayWhatItGoesOnWithout(status, ledger);
    sayWhoCannotSave(status, ledger);
    sayWhatCannotGo(status, ledger);
    sayWhatIsAway(status, paths);
    sayWhatIsNotSaved(status, paths, config, attempt ? &*attempt : nullptr);
    status.tokensPerSecond = settlePaces(status.workers, status.hindrance.has_value()); // all that hinders is known now
    const Message older = sayWhatIsOlder(status, paths, rows.checkpoints, view, ledger);
    if (status.privacy && status.privacy->notStated.empty() && !older.empty()) // it counts too few trainings
        status.privacy = privacySpent(config, 0, sentence("No epsilon is stated:") + " " + older);
    nameLeftOut(status, ledger, rows.attempts);
    sayHowDataIsRead(status);
    applyFinishedMark(status, paths);
    sayThatItIsOld(status, ledger.standsInBecause().message);
    return status;
}

} // namespace furrow
