#include "core/device/device_locks.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

Result<std::vector<FileLock>> lockDevices(
    const std::vector<WorkerPlacement>& placements, const std::filesystem::path& folder)
{
    std::vector<FileLock> locks;
    for (const auto& place : placements) {
        if (place.device == "cpu")
            continue;
        auto lock = FileLock::tryLockForAll(folder / pathFromUtf8("furrow-" + place.device + ".lock"));
        if (!lock.ok() && lock.error().code != ErrorCode::Busy)
            return Error { lock.error().code,
                sentence(
                    "Whether %1 (%2) is free cannot be told: %3. Choose another device, or have that mended first.",
                    { place.deviceName, place.device, lock.error().message }) };
        if (!lock.ok())
            return Error { ErrorCode::Busy,
                sentence("%1 (%2) is in use by another run. Choose another device, or stop that run first.",
                    { place.deviceName, place.device }) };
        locks.push_back(std::move(lock).value());
    }
    return locks;
}

} // namespace furrow
