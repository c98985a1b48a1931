#include "core/base/clock.h"
#include "core/base/denied.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/resume_check.h"
#include "core/run/status/own_process.h"
#include "core/run/status/run_status.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/holder_life.h"
#include "core/tracker/training_notes.h"

#include <algorithm>
#include <map>
#include <set>

namespace furrow {

namespace {

using Choices = std::vector<ResumePlan::CheckpointChoice>;

const ResumePlan::CheckpointChoice* find(const Choices& choices, CheckpointId id)
{
    const auto found
        = std::find_if(choices.begin(), choices.end(), [id](const auto& choice) { return choice.row.id == id; });
    return found == choices.end() ? nullptr : &*found;
}

/// The heads that would be left, and for what: with a disk that is away that is one thing to say.
Message headsLost(const RunPaths& paths, const ResumeEffect& effect, const Choices& choices)
{
    Message text;
    if (!effect.left.empty() && !isTaken(paths.checkpointsFolder()))
        text = sentence("%1 is not there. Is its disk mounted?", { utf8Text(paths.checkpointsFolder()) });
    else
        for (const CheckpointId left : effect.left)
            if (const auto* choice = find(choices, left); choice != nullptr)
                text += (text.empty() ? "" : " ") + withFullStop(choice->problem);
    if (text.empty())
        return text;
    const bool areRightsAll = std::ranges::all_of(effect.left, [&choices](CheckpointId left) {
        const auto* choice = find(choices, left);
        return choice == nullptr || isForRights(choice->problem);
    });
    if (areRightsAll && isForRights(text))
        return text + " " + sentence(kOnlyRightsMissing);
    return effect.heads.empty()
        ? sentence(
              "%1 No whole checkpoint is left behind it: training would begin again from the start weights.", { text })
        : sentence("%1 The one before it would be used.", { text });
}

/// Why going on from some weights needs a person's yes. Reads each state once, for all checkpoints that can be chosen.
class Losses {
public:
    Losses(const RunPaths& paths, const RunFile& file, const ResumePlan& plan, MergeMethod merge)
        : paths_(paths)
        , file_(file)
        , plan_(plan)
        , merge_(merge)
    {
    }

    /// Heads that would be left, and states beside the weights that are not whole. "": it needs none.
    Message of(const ResumeEffect& weights)
    {
        Message text = headsLost(paths_, weights, plan_.checkpoints);
        if (!isTaken(paths_.checkpointsFolder()))
            return text;
        for (const auto& state : keptStatesAfter(plan_.heads, weights, merge_))
            if (const Message& problem = problemOf(state); !problem.empty())
                text += (text.empty() ? "" : " ") + problem;
        return text;
    }

private:
    const Message& problemOf(const KeptState& state)
    {
        const auto [known, isNew] = problems_.try_emplace({ state.row.id, state.replica });
        const auto* choice = isNew ? find(plan_.checkpoints, state.row.id) : nullptr;
        if (isNew && (choice == nullptr || !choice->verified))
            if (const auto verdict = verifyKeptState(paths_, file_.runId, state); !verdict.ok())
                known->second = verdict.error().message;
        return known->second;
    }

    const RunPaths& paths_;
    const RunFile& file_;
    const ResumePlan& plan_;
    MergeMethod merge_;
    std::map<std::pair<CheckpointId, std::optional<std::int32_t>>, Message> problems_; ///< "": it is whole
};

/// Committed chunks that stay, of the epochs that are open and of those that are opened again.
std::int64_t keptOf(const ResumePlan& plan, const std::vector<EpochRow>& epochs, const std::vector<ChunkId>& redo)
{
    std::set<std::int64_t> reached;
    for (const auto& epoch : plan.effect.epochs)
        reached.insert(epoch.epoch);
    for (const ChunkId chunk : redo)
        reached.insert(placeOf(chunk).epoch);
    std::int64_t kept = -static_cast<std::int64_t>(redo.size());
    for (const EpochRow& epoch : epochs)
        if (reached.contains(epoch.epoch))
            kept += epoch.chunks[ChunkState::Committed];
    return kept;
}

/// What a plain resume redoes, and what one from each checkpoint would.
Status weigh(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const std::vector<EpochRow>& epochs,
    ResumePlan& plan)
{
    FURROW_TRY_ASSIGN(plan.effect, resumeEffect(reader, std::nullopt, plan.files()));
    FURROW_TRY_ASSIGN(plan.givenUp, givenUpChunks(plan.effect, reader));
    FURROW_TRY_ASSIGN(const MergeMethod merge, mergeInForce(reader, file.config));
    Losses losses(paths, file, plan, merge);
    plan.loss = losses.of(plan.effect);
    FURROW_TRY_ASSIGN(const auto proof, LostProof::find(paths, file, reader));
    const auto add
        = [](Message& loss, const Message& lost) { loss += loss.empty() || lost.empty() ? lost : " " + lost; };
    add(plan.loss, proof.of());
    for (auto& choice : plan.checkpoints) {
        if (!choice.canBeChosen)
            continue;
        FURROW_TRY_ASSIGN(auto back, weightsAfterResume(reader, choice.row.id, plan.files()));
        choice.loss = losses.of(back);
        add(choice.loss, proof.of(choice.row.id));
        choice.redo = std::move(back.redo);
        choice.partsLost = std::move(back.partsLost);
        choice.staying = std::move(back.staying);
        choice.kept = keptOf(plan, epochs, choice.redo);
    }
    return {};
}

/// Workers that outlive their supervisor save what they have, and end: what they hold now may be kept after all.
Status nameOrphans(const RunPaths& paths, LedgerReader& reader, ResumePlan& plan)
{
    FURROW_TRY_ASSIGN(auto incarnations, reader.incarnations());
    const std::int64_t nowNs = systemClock().monotonicNs();
    const auto alive = std::count_if(incarnations.begin(), incarnations.end(), [&](const IncarnationRow& row) {
        return row.live && mayLive(row.process, row.leaseUntilNs, nowNs) && !isOfAnotherFolder(paths, row.process);
    });
    if (alive > 0)
        plan.notes.push_back(alive == 1
                ? sentence("1 worker is still alive. What it saves before it ends is kept too.")
                : sentence("%1 workers are still alive. What they save before they end is kept too.",
                      { std::to_string(alive) }));
    return {};
}

/// What checkpoints have of these chunks, which are not committed.
double tokensInParts(const ResumeEffect& effect, const std::vector<ChunkId>& chunks)
{
    double tokens = 0;
    if (chunks.empty()) // as a rule: of a million cells none is asked
        return tokens;
    for (const auto& epoch : effect.epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (cell.covered > 0 && cell.windows > 0 && std::ranges::binary_search(chunks, cell.id))
                tokens += static_cast<double>(cell.tokens) * cell.covered / cell.windows;
    return tokens;
}

/// What stays in the weights of chunks that are counted above as a whole.
double tokensStaying(const std::vector<LedgerReader::Staying>& staying)
{
    double tokens = 0;
    for (const auto& part : staying)
        tokens += part.windows > 0 ? static_cast<double>(part.tokens) * part.covered / part.windows : 0;
    return tokens;
}

/// What the learning rate goes by.
Status addRate(const RunPaths& paths, const LedgerReader& ledger, ResumePlan& plan)
{
    FURROW_TRY_ASSIGN(plan.rate, readRateOutlook(paths));
    const auto& tracker = ledger.file();
    FURROW_TRY_ASSIGN(auto redo, tokensIn(tracker, plan.effect.redo));
    plan.redoTokens = static_cast<double>(redo) + tokensInParts(plan.effect, plan.effect.partsLost)
        - tokensStaying(plan.effect.staying);
    for (auto& choice : plan.checkpoints) {
        FURROW_TRY_ASSIGN(auto back, tokensIn(tracker, choice.redo));
        choice.redoTokens
            = static_cast<double>(back) + tokensInParts(plan.effect, choice.partsLost) - tokensStaying(choice.staying);
    }
    return {};
}

void addTimes(LedgerReader& reader, const std::vector<EpochRow>& epochs, ResumePlan& plan)
{
    auto attempts = reader.attempts();
    auto totals = reader.totals();
    if (!attempts.ok() || attempts.value().empty() || !totals.ok())
        return;
    plan.endedWallNs = attempts.value().back().endedWallNs.value_or(totals.value().supervisorHeartbeatWallNs);
    std::int64_t done = 0;
    for (const auto& epoch : epochs)
        done += epoch.chunks[ChunkState::Committed];
    if (done > 0)
        plan.secondsPerChunk = totals.value().activeSeconds / static_cast<double>(done);
}

/// "Exactly once" as it can be proved now; a resume only frees, so it stays true.
void addProof(const Result<AuditReport>& report, ResumePlan& plan)
{
    if (!report.ok())
        return;
    plan.twice = plan.missing = 0;
    for (const auto& epoch : report.value().epochs) {
        *plan.twice += epoch.duplicated;
        *plan.missing += epoch.missing;
    }
}

} // namespace

Result<ResumePlan> planResume(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    FURROW_TRY_ASSIGN(auto epochs, reader.epochs());
    ResumePlan plan;
    FURROW_TRY_ASSIGN(plan.heads, readReplicaHeads(reader));
    const auto& rows = plan.heads.checkpoints;
    FURROW_TRY_ASSIGN(auto strays, findStrays(paths, file.runId, [&] { return reader.checkpoints(); }));
    FURROW_TRY_ASSIGN(plan.olderTracker, olderTrackerText(paths, file.runId, strays, rows, reader));
    FrozenVerdicts frozen;
    for (const auto& row : rows) {
        if (row.removed && !isThereAgain(paths, file.runId, row, &frozen))
            continue;
        if (row.removed)
            plan.thereAgain.push_back(row.id);
        ResumePlan::CheckpointChoice choice;
        choice.row = row;
        const auto verdict = plan.olderTracker.empty()
            ? verifyTrainable(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.runId, &frozen)
            : verifyWhereItLies(paths, file.runId, row, &frozen); // who accepts the loss has it moved back
        choice.verified = verdict.ok() && !row.damaged;
        choice.damaged = row.damaged || (!verdict.ok() && verdict.error().code == ErrorCode::Corrupt);
        choice.canBeChosen = choice.verified && row.surviving;
        if (!verdict.ok())
            choice.problem = verdict.error().message;
        else if (row.damaged) {
            choice.problem
                = sentence("It was marked damaged and is whole; a resume takes it back where that is still possible.");
            plan.notes.push_back(sentence(
                "Checkpoint %1 was marked damaged and is whole. Where a resume can take it back, fewer chunks are trained again than counted here.",
                { row.record.folder }));
        } else if (!row.surviving)
            choice.problem = sentence("The weights of the run did not grow from it.");
        plan.checkpoints.push_back(std::move(choice));
    }
    addTimes(reader, epochs, plan);
    const auto auditLedger = [&reader, &plan] {
        auto proof = audit(reader.file());
        addProof(proof, plan);
        return proof;
    };
    ResumeChoice loss; // what it would mean is told for itself
    loss.acceptLoss = true;
    if (auto possible = checkResume(paths, file, reader, loss, auditLedger); !possible.ok())
        plan.refusal = possible.error();
    FURROW_TRY(weigh(paths, file, reader, epochs, plan));
    FURROW_TRY(nameOrphans(paths, reader, plan));
    FURROW_TRY(addRate(paths, reader, plan));
    return plan;
}

const ResumePlan::CheckpointChoice* ResumePlan::choiceOf(CheckpointId checkpoint) const
{
    return find(checkpoints, checkpoint);
}

ResumeEffect ResumePlan::effectOf(const CheckpointChoice& choice) const
{
    return effect.whenLeaving(choice.redo, choice.partsLost, choice.staying);
}

bool ResumePlan::isWhole(CheckpointId checkpoint) const
{
    const auto* choice = choiceOf(checkpoint);
    return choice == nullptr || choice->verified;
}

CheckpointFiles ResumePlan::files() const
{
    return { [this](CheckpointId id) { return isWhole(id); }, thereAgain };
}

Status ResumePlan::verdict(const ResumeChoice& choice) const
{
    if (refusal)
        return *refusal;
    if (!olderTracker.empty() && !choice.acceptLoss)
        return Error { ErrorCode::Corrupt, olderTracker };
    const auto* goBackTo = choice.goBackTo ? choiceOf(*choice.goBackTo) : nullptr;
    const Message& lost = goBackTo != nullptr ? goBackTo->loss : loss;
    if (!lost.empty() && !choice.acceptLoss)
        return Error { ErrorCode::Corrupt, lost };
    return {};
}

} // namespace furrow
