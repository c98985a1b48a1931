#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace furrow {

/// Weights of the counting model: how often each (epoch, block, column, window) was trained.
using WindowCounts = std::map<std::array<std::int64_t, 4>, std::int64_t>;

/// Reads them from a checkpoint folder without libtorch. Corrupt when they are not the counting model's.
Result<WindowCounts> readWindowCounts(const std::filesystem::path& checkpointFolder);

/// What the weights really contain, against what the ledger says they contain.
struct CountingVerdict {
    std::int64_t windows = 0; ///< that the ledger says are in surviving weights
    std::int64_t duplicated = 0; ///< in the weights more often than that
    std::int64_t missing = 0; ///< less often
    std::int64_t models = 0; ///< different surviving weights: 1 when everything is merged
    std::string firstFault; ///< "" or one sentence
    bool isExact() const { return duplicated == 0 && missing == 0; }
};

/// Compares the weights of every replica's newest checkpoint with the ledger, window by window. The run must not be
/// training.
Result<CountingVerdict> checkCounting(const RunPaths& paths);

/// What DiLoCo did to the counting model (see outerMomentumOfCounts).
struct OuterVerdict {
    std::int64_t steps = 0; ///< merges whose momentum could be compared
    std::string firstFault; ///< "" or one sentence
};

/// Compares, for each merge by DiLoCo that is on disk together with the merge it grew from, what the outer step added
/// to the momentum with what it added to the weights. A merge made twice, from another base or with another momentum
/// shows. May be asked of a run that trains.
Result<OuterVerdict> checkOuterMomentum(const RunPaths& paths);

} // namespace furrow
