#pragma once

#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// An invented field of blocks x columns, about two thirds ploughed, with every state and look in it.
/// The same seed gives the same cells.
std::vector<ChunkCell> syntheticCells(std::uint64_t seed, std::int64_t blocks, int columns, int workers = 3);

} // namespace furrow
