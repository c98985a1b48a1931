#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/types.h"

#include <optional>

namespace furrow {

/// finished.json: a person accepts a run as ended as it is. It speaks of one attempt; the next one makes it void. What
/// really happened stays in the ledger.
struct FinishedMark {
    AttemptId attempt;
    std::int64_t wallNs = 0; ///< when it was marked
};

Status writeFinishedMark(const RunPaths& paths, const FinishedMark& mark);
/// Nothing: there is none, or it cannot be read.
std::optional<FinishedMark> readFinishedMark(const RunPaths& paths);

} // namespace furrow
