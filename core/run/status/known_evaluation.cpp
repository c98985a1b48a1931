#include "core/run/status/known_evaluation.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace furrow {

namespace {

constexpr double kSame = 1e-6; // losses of the same weights

HeldOutLoss evaluationOf(
    const SupervisorLedger::CheckpointRow& row, const EvaluatedText& text, const Message& whose, bool isNewest)
{
    const bool merged = row.record.kind == CheckpointKind::Merge;
    return { *row.record.evalLoss, row.record.step, text, merged ? 0 : row.record.replica, merged, row.wallNs, whose,
        row.id.value, !isNewest };
}

std::optional<HeldOutLoss> ofCheckpoints(const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const EvaluatedText& text, const std::optional<RunWeights>& newest)
{
    std::optional<HeldOutLoss> best;
    for (const auto& row : rows) {
        const bool known = row.record.evalLoss && !row.removed && !row.damaged && row.surviving;
        if (!known) // they come in the order of the ledger, which is right whatever the clock said
            continue;
        const bool isNewest = newest && row.id == newest->row.id;
        best = evaluationOf(row, text,
            isNewest ? whoseWeights(*newest)
                : row.record.kind == CheckpointKind::Merge
                ? sentence("an older merge")
                : sentence("replica %1", { std::to_string(row.record.replica) }),
            isNewest);
    }
    return best;
}

/// Told later than what is known: by the clock, or where somebody set it back by the steps of one replica.
bool isNewer(const ToldEvaluation& told, const std::optional<HeldOutLoss>& known)
{
    if (!known || told.wallNs > known->wallNs)
        return true;
    return !told.merged && !known->merged && told.worker == known->replica && told.step > known->step;
}

/// What workers found on their way, since. A checkpoint is saved after its weights were evaluated: where it is the
/// newer one it has that loss. A worker that takes a merge over evaluates the same weights once more, and knows its own
/// steps only.
void takeNewer(KnownEvaluation& known, const NewestTold& newestTold, const EvaluatedText& text,
    const std::optional<RunWeights>& newest, const std::function<bool(const ToldEvaluation&)>& counts)
{
    const auto told = newestTold([&](const ToldEvaluation& one) { return std::isfinite(one.loss) && counts(one); });
    const bool isSame
        = told && told->merged && known.loss && known.loss->merged && std::abs(told->loss - known.loss->loss) < kSame;
    if (told && !isSame && isNewer(*told, known.loss))
        known.loss = heldOutLossOf(*told, text);
    else if (told && known.loss && told->step == known.loss->step && std::abs(told->loss - known.loss->loss) < kSame)
        known.loss->pairs = told->pairs;
    if (known.loss && known.loss->checkpoint == 0)
        known.loss->superseded = newest && newest->row.wallNs > known.loss->wallNs;
    if (const auto asked
        = newestTold([&](const ToldEvaluation& one) { return one.tasks.questions > 0 && counts(one); }))
        known.answers = answersOf(*asked);
}

} // namespace

KnownEvaluation knownEvaluation(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const EvaluatedText& text, const std::function<bool(const ToldEvaluation&)>& counts)
{
    const NewestTold inFiles = [&paths](const auto& question) { return newestEvaluation(paths, question); };
    return knownEvaluation(inFiles, rows, text, counts);
}

KnownEvaluation knownEvaluation(const NewestTold& newestTold, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const EvaluatedText& text, const std::function<bool(const ToldEvaluation&)>& counts)
{
    const auto newest = weightsOf(rows);
    KnownEvaluation known { ofCheckpoints(rows, text, newest), {} };
    takeNewer(known, newestTold, text, newest, counts);
    return known;
}

std::optional<std::int64_t> wholeUntil(
    const HeldOutLoss& evaluation, const std::vector<SupervisorLedger::CheckpointRow>& rows)
{
    const auto saved = std::find_if(rows.begin(), rows.end(), [&evaluation](const auto& row) {
        return evaluation.checkpoint != 0 ? row.id.value == evaluation.checkpoint
                                          : row.wallNs >= evaluation.wallNs && row.record.evalLoss
                && std::abs(*row.record.evalLoss - evaluation.loss) < kSame;
    });
    if (saved == rows.end())
        return evaluation.wallNs;
    return std::next(saved) == rows.end() ? std::nullopt : std::optional(std::next(saved)->wallNs);
}

} // namespace furrow
