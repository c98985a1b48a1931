#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/held_out_loss.h"
#include "core/telemetry/task_marks.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <functional>
#include <optional>
#include <vector>

namespace furrow {

/// What a worker found on its way: a loss on held-out text, evaluations/w<worker>.json, and its answers to the
/// questions of the run, w<worker>-answers.json. The ledger has the losses of checkpoints only, which may be hours
/// older. For people; nothing depends on it.
struct ToldEvaluation {
    int worker = 0;
    bool merged = false; ///< of a merge, before the worker trained on
    std::int64_t step = 0;
    double loss = 0; ///< nats per token; NaN: there is none
    std::int64_t wallNs = 0;
    TaskMarks tasks {};
    PairMarks pairs {}; ///< of answers: `loss` is nats per pair then
};

/// Replaces what the worker told before; an evaluation without answers leaves those that it told. Not synced.
Status publishEvaluation(const RunPaths& paths, const ToldEvaluation& told, FileSystem& files);
/// The newest that counts; nullopt when none has told one, or nothing of it can be read.
std::optional<ToldEvaluation> newestEvaluation(
    const RunPaths& paths, const std::function<bool(const ToldEvaluation&)>& counts);
/// Whether the weights that were evaluated are with the process that told it, or in a checkpoint that is there: those
/// that died before a checkpoint are not of the run any more.
/// @param processes  all of the run
bool areWeightsThere(const ToldEvaluation& told, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints,
    const std::vector<IncarnationRow>& processes, const std::function<bool(const IncarnationRow&)>& isAlive,
    const std::function<bool(const SupervisorLedger::CheckpointRow&)>& isThere);
/// @param text  that it was made on
HeldOutLoss heldOutLossOf(const ToldEvaluation& told, const EvaluatedText& text);
TaskAnswers answersOf(const ToldEvaluation& told);

} // namespace furrow
