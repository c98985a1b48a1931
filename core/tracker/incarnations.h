#pragma once

#include "core/tracker/epochs.h"

namespace furrow {

/// Fences an incarnation: it can write nothing from now on, and what it holds without a checkpoint becomes claimable:
/// untouched claims are released, begun and trained ones are lost. Returns how many chunks that were.
std::int64_t revokeIncarnation(LedgerFile& file, ChunkMoves& moves, std::int64_t incarnation, const std::string& cause);

/// Lease that ends at the same time for everybody: now + seconds on the monotonic clock.
std::int64_t leaseEnd(const LedgerFile& file, double leaseSeconds);

} // namespace furrow
