#pragma once

#include "core/run/folder/run_paths.h"
#include "core/tracker/named_chunks.h"

#include <span>

namespace furrow {

// What a person decides about chunks that could not be read. Both work while the run trains and while it rests; a
// running feeder sees the decision at its next turn. Without chunks every poisoned one is meant.

/// They are prepared and trained again, as if they had never failed. InvalidArgument when one of them is not poisoned.
Status retryChunks(const RunPaths& paths, std::span<const ChunkId> chunks);
/// They stay untrained, by name, and keep the epoch open no more. InvalidArgument when one of them is not poisoned.
Status acceptChunks(const RunPaths& paths, std::span<const ChunkId> chunks);

} // namespace furrow
