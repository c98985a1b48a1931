#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"

#include <functional>
#include <optional>

namespace furrow {

/// A loss on held-out text that a worker found on its way, evaluations/w<worker>.json. The ledger has those of
/// checkpoints only, which may be hours older. For people; nothing depends on it.
struct ToldEvaluation {
    int worker = 0;
    bool merged = false; ///< of a merge, before the worker trained on
    std::int64_t step = 0;
    double loss = 0; ///< nats per token
    std::int64_t wallNs = 0;
};

/// Replaces what the worker told before. Not synced.
Status publishEvaluation(const RunPaths& paths, const ToldEvaluation& told, FileSystem& files);
/// The newest that counts; nullopt when none has told one, or nothing of it can be read.
std::optional<ToldEvaluation> newestEvaluation(
    const RunPaths& paths, const std::function<bool(const ToldEvaluation&)>& counts);
/// @param text  that it was made on
HeldOutLoss heldOutLossOf(const ToldEvaluation& told, const EvaluatedText& text);

} // namespace furrow
