#pragma once

#include "core/run/folder/run_paths.h"
#include "core/tracker/named_chunks.h"

#include <span>

namespace furrow {

// What a person decides about chunks of a run. All work while the run trains and while it rests; a running feeder or
// worker sees the decision at its next turn. Corrupt when the tracker is older than the weights (olderTrackerProblem).

/// Chunks that could not be read are prepared and trained again, as if they had never failed. Without chunks every
/// poisoned one is meant. InvalidArgument when one of them is not poisoned.
Status retryChunks(const RunPaths& paths, std::span<const ChunkId> chunks);
/// They stay untrained, by name, and keep the epoch open no more. Otherwise as retryChunks().
Status acceptChunks(const RunPaths& paths, std::span<const ChunkId> chunks);
/// The places of these chunks, of whatever epoch, are trained no more: left out of the newest epoch and, where they are
/// not trained yet, of the others that are open; later epochs take it over. All or none. Kept beside the tracker too
/// (left_out_chunks.h).
/// @param cause  kept with each of them, and shown
/// @return how many of them are in the weights in part, which stays so. Busy when one is being trained,
/// InvalidArgument when one is trained already
Result<std::int64_t> excludeChunks(const RunPaths& paths, std::span<const ChunkId> chunks, const Message& cause);

} // namespace furrow
