#include "ui/models/past_evaluation.h"

#include "core/run/status/evaluation_file.h"
#include "core/run/status/known_evaluation.h"
#include "core/run/status/run_weights.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace furrow {

namespace {

/// The checkpoints in the weights of that time, with their heads. What was removed since, or found damaged, was not
/// yet.
std::vector<SupervisorLedger::CheckpointRow> checkpointsAt(std::int64_t wallNs, const PastSources& sources)
{
    const PartsThen parts(wallNs, sources.tables, sources.left);
    auto rows = sources.tables->checkpoints;
    std::erase_if(
        rows, [&parts](const SupervisorLedger::CheckpointRow& row) { return !parts.isThere(row.id, row.surviving); });
    std::set<CheckpointId> trainedOn;
    for (const auto& row : rows)
        trainedOn.insert(row.record.parents.begin(), row.record.parents.end());
    for (auto& row : rows) {
        row.surviving = true;
        row.removed = row.damaged = false;
        row.head = !trainedOn.contains(row.id);
    }
    return rows;
}

/// Of each worker the newest evaluation with a loss and the newest one with answers, as its files had them then.
std::vector<ToldEvaluation> toldUntil(const TelemetrySnapshot& telemetry)
{
    if (!telemetry.evals)
        return {};
    std::map<std::pair<int, bool>, ToldEvaluation> newest; // by worker, and whether for its answers
    const auto keep = [&newest](const ToldEvaluation& told, bool forAnswers) {
        const auto [known, isFirst] = newest.try_emplace({ told.worker, forAnswers }, told);
        if (!isFirst && told.wallNs >= known->second.wallNs)
            known->second = told;
    };
    for (const EvalPoint& eval : *telemetry.evals) {
        const auto step = eval.record.weightsStep > 0 ? eval.record.weightsStep : eval.record.step;
        const ToldEvaluation told { eval.worker, eval.record.what == EvalRecord::What::Merged, step, eval.record.loss,
            static_cast<std::int64_t>(eval.wall * 1e9), eval.record.tasks, eval.record.pairs };
        if (std::isfinite(told.loss))
            keep(told, false);
        if (told.tasks.questions > 0)
            keep(told, true);
    }
    std::vector<ToldEvaluation> all;
    for (const auto& [whose, told] : newest)
        all.push_back(told);
    return all;
}

/// As newestEvaluation() answers it of files.
NewestTold newestOf(const std::vector<ToldEvaluation>& told)
{
    return [&told](const std::function<bool(const ToldEvaluation&)>& question) {
        std::optional<ToldEvaluation> newest;
        for (const ToldEvaluation& one : told)
            if (question(one) && (!newest || one.wallNs > newest->wallNs))
                newest = one;
        return newest;
    };
}

} // namespace

void takeEvaluationsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const auto told = sources.telemetry == nullptr ? std::vector<ToldEvaluation>() : toldUntil(*sources.telemetry);
    const bool isRead = sources.tables != nullptr;
    const auto rows = isRead ? checkpointsAt(wallNs, sources) : std::vector<SupervisorLedger::CheckpointRow>();
    const auto processes = isRead ? processesAt(wallNs, sources) : std::vector<IncarnationRow>();
    const auto lived = [&status](const IncarnationRow& row) {
        return row.attempt.value == status.attempt && isUnderWay(status.state) && row.live;
    };
    const auto isThere = [](const SupervisorLedger::CheckpointRow&) { return true; };
    KnownEvaluation known = knownEvaluation(newestOf(told), rows, status.evaluated,
        [&](const ToldEvaluation& one) { return !isRead || areWeightsThere(one, rows, processes, lived, isThere); });
    status.answers = known.answers;
    status.evaluation = std::move(known.loss);
    if (!status.evaluation)
        return;
    const bool isNewest = status.evaluation->checkpoint != 0 && !status.evaluation->superseded;
    status.evaluation->beforeEndOf
        = unfinishedEpoch(status.epochs, isNewest ? std::nullopt : wholeUntil(*status.evaluation, rows));
}

} // namespace furrow
