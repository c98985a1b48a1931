#pragma once

#include "core/base/file_lock.h"
#include "core/data/block_cache.h"
#include "core/data/hub/hub_client.h"

namespace furrow {

/// Several runs in one workspace want the same file of the hub: one fetches while the others wait here, and find what
/// it fetched. Who waits says so by the client's policy; Cancelled when that gives up.
/// @param what  of the file is fetched, fit for the name of a file
Result<FileLock> fetchAlone(BlockCache& cache, const HubFile& file, const std::string& what, const HubClient& client);

} // namespace furrow
