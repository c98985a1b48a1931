#pragma once

#include "core/base/file_lock.h"
#include "core/data/source/block_cache.h"
#include "core/data/hub/hub_client.h"

#include <optional>

namespace furrow {

/// Several runs in one workspace want the same file of the hub: one fetches while the others wait here for their turn,
/// and find what it fetched. The turn is kept while the lock lives. Nothing: whoever has it is stopped, or nothing of
/// the file arrived for a while, so the caller fetches for itself, beside it; no later call of this process waits until
/// more of the file arrives. Who waits says so by the client's policy, with whom for; Cancelled when that gives up.
/// @param what  of the file is fetched, fit for the name of a file
Result<std::optional<FileLock>> takeFetchTurn(
    BlockCache& cache, const HubFile& file, const std::string& what, const HubClient& client);

} // namespace furrow
