#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace furrow {

/// One training whose windows are in surviving weights.
struct TrainedChunk {
    ChunkId chunk;
    std::int32_t worker = 0;
    std::int64_t firstStep = 0; ///< of that worker's replica, as telemetry counts them
    std::int64_t lastStep = 0;
    std::int64_t weightsStep = 0; ///< optimiser steps of all workers that the weights have, up to its last one, in the
                                  ///< order in which trainings ended; the largest is what status calls the steps
    std::int64_t checkpoint = 0; ///< the newest one that added windows of it
    std::int64_t steps = 0; ///< optimiser steps of this training that the weights have
    std::int64_t samples = 0; ///< in it; of a part of a chunk in proportion to its windows
    std::int64_t tokens = 0;
    bool isPart = false; ///< other windows of the chunk are not of this training, or in no weights
};
/// By chunk id; a chunk that several workers trained in parts is there once for each.
Result<std::vector<TrainedChunk>> trainedChunks(const std::filesystem::path& tracker);

} // namespace furrow
