#include "core/base/room_for_tracker.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

Status requireRoom(const std::filesystem::path& folder, std::uint64_t bytes)
{
    const auto free = freeBytes(folder);
    if (!free.ok() || free.value() >= bytes + kRoomForTracker)
        return {};
    return Error { ErrorCode::Io,
        sentence("the disk of %1 has %2 free, and %3 are needed: %4 of them stay free for the tracker. Free some space",
            { utf8Text(folder), Bytes(free.value()), Bytes(bytes + kRoomForTracker), Bytes(kRoomForTracker) }) };
}

} // namespace furrow
