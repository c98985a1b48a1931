#pragma once

#include "core/tracker/types.h"
#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// How often the weights of one checkpoint have seen each chunk of the data whole, over all epochs of the run and,
/// where the run was itself started from another one, of the pass that it went on with. Windows that were left out by
/// name, as their steps were not finite, are in no weights: a chunk with such windows was not seen whole.
struct TrainedBehind {
    struct Chunk {
        std::int64_t block = 0;
        std::int32_t column = 0;
        std::int32_t times = 0; ///< at least 1
        std::int32_t timesInOpenPasses = 0; ///< of these, in passes that are not whole yet
    };
    std::vector<Chunk> chunks; ///< ascending by block and column; chunks never trained whole are left out
    /// Passes that are whole: every chunk with something to train was gone through this often, whatever was left out by
    /// name, those left out by a person excepted. 0 while the end of the data is not known.
    std::int32_t completePasses = 0;
    /// Chunks of the pass that is not whole yet of which these weights have some windows, and the samples of those
    /// windows: in proportion where one ends in the middle of a sample.
    std::int64_t partlyChunks = 0;
    std::int64_t partlySamples = 0;
};

/// What the weights of one checkpoint have of the chunks of an epoch.
struct TrainedEpoch {
    std::int64_t epoch = 0;
    std::int64_t chunks = 0; ///< that the ledger knows
    std::int64_t whole = 0; ///< of them, every window is in the weights once
    std::int64_t partly = 0; ///< some of their windows are
    std::int64_t empty = 0; ///< of them, nothing is to be trained
    std::int64_t leftOut = 0; ///< of the chunks, whole and by name: excluded, poisoned or accepted, as the ledger has
                              ///< it now
    std::int64_t ofParent = 0; ///< of the chunks, left out as the parent run trained them: the start weights have them
    std::int64_t samples = 0; ///< in these weights; of chunks in part in proportion to their windows
};

/// Both read the tracker in one transaction and work on a running run.
Result<TrainedBehind> trainedBehind(const std::filesystem::path& tracker, CheckpointId checkpoint);
/// By epoch, those without any window in these weights left out.
Result<std::vector<TrainedEpoch>> trainedEpochs(const std::filesystem::path& tracker, CheckpointId checkpoint);

} // namespace furrow
