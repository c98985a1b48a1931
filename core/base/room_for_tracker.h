#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// Stays free on the disk of a run when a checkpoint is written: on a disk that checkpoints have filled, the tracker
/// could not be told any more that old ones go.
inline constexpr std::uint64_t kRoomForTracker = 4 << 20;

/// Io where so many bytes in a folder would not leave kRoomForTracker. A disk that cannot be asked has room.
Status requireRoom(const std::filesystem::path& folder, std::uint64_t bytes);

} // namespace furrow
