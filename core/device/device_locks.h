#pragma once

#include "core/base/file_lock.h"
#include "core/device/placement.h"

#include <filesystem>
#include <vector>

namespace furrow {

/// One process of this machine at a time trains on a GPU, whoever's it is: a kernel lock named after its UUID, freed
/// when this process dies. Busy says that another run holds one; any other error that nobody can tell, and why.
/// @param folder  that processes of all users share
Result<std::vector<FileLock>> lockDevices(
    const std::vector<WorkerPlacement>& placements, const std::filesystem::path& folder = folderOfSharedLocks());

} // namespace furrow
