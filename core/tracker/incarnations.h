#pragma once

#include "core/base/message.h"
#include "core/tracker/epochs.h"

namespace furrow {

/// Fences an incarnation: it can write nothing from now on, and what it holds without a checkpoint becomes claimable:
/// untouched claims are released, begun and trained ones are lost. Returns how many chunks that were.
/// @param endedWallNs  when its process ended, where that is found only now; 0: now
std::int64_t revokeIncarnation(
    LedgerFile& file, ChunkMoves& moves, std::int64_t incarnation, const Message& cause, std::int64_t endedWallNs = 0);

/// Lease that ends at the same time for everybody: now + seconds on the monotonic clock.
std::int64_t leaseEnd(const LedgerFile& file, double leaseSeconds);

} // namespace furrow
