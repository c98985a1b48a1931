#pragma once

#include "core/run/folder/run_paths.h"

#include <cstdint>
#include <optional>

namespace furrow {

/// Free bytes where a run writes: its folder or that of its checkpoints, which may be a disk of its own, whichever has
/// less. Nothing: neither can be asked.
std::optional<std::uint64_t> diskRoomLeft(const RunPaths& paths);

} // namespace furrow
