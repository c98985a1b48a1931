#include "core/run/status/disk_room_left.h"

#include "core/base/file_system.h"

#include <algorithm>

namespace furrow {

std::optional<std::uint64_t> diskRoomLeft(const RunPaths& paths)
{
    std::optional<std::uint64_t> least;
    for (const auto& folder : { paths.folder(), paths.checkpointsFolder() })
        if (const auto free = freeBytes(folder); free.ok())
            least = std::min(least.value_or(free.value()), free.value());
    return least;
}

} // namespace furrow
