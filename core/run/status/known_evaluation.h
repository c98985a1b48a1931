#pragma once

#include "core/run/folder/run_paths.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/held_out_loss.h"
#include "core/run/status/run_weights.h"
#include "core/tracker/supervisor_ledger.h"

#include <functional>
#include <optional>
#include <vector>

namespace furrow {

/// How good the run is now, of weights that are there.
struct KnownEvaluation {
    std::optional<HeldOutLoss> loss; ///< without HeldOutLoss::beforeEndOf
    std::optional<TaskAnswers> answers;
};

/// One answer to "how good is it": the newest evaluation of weights that are there, of a checkpoint or told by a worker
/// since. Where several replicas train it is of the one that was evaluated last, whichever has the newest checkpoint:
/// nothing but an evaluation changes it.
/// @param text  that one evaluation takes
/// @param counts  whether what a worker told is of weights that are there
KnownEvaluation knownEvaluation(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const EvaluatedText& text, const std::function<bool(const ToldEvaluation&)>& counts);

/// The newest telling of those that a question is answered with yes for.
using NewestTold
    = std::function<std::optional<ToldEvaluation>(const std::function<bool(const ToldEvaluation&)>& question)>;
/// The same of a past moment, of which the files of the workers tell nothing any more.
/// @param newestTold  as newestEvaluation() answers it of those files
KnownEvaluation knownEvaluation(const NewestTold& newestTold, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const EvaluatedText& text, const std::function<bool(const ToldEvaluation&)>& counts);

/// The epochs that were closed by then are whole in the weights that were evaluated; nothing: no checkpoint came after
/// them. The commit of a checkpoint that ends an epoch closes it an instant later.
/// @param rows  of the run, ascending by id
std::optional<std::int64_t> wholeUntil(
    const HeldOutLoss& evaluation, const std::vector<SupervisorLedger::CheckpointRow>& rows);

} // namespace furrow
