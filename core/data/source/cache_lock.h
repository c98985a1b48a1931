#pragma once

#include "core/base/file_lock.h"
#include "core/base/result.h"

#include <atomic>
#include <filesystem>

namespace furrow {

// How this process takes part in caches that others use too (CacheUse). Internal to the cache.

/// CacheUse::mayChange: whether what lies in a cache may still be written and removed.
Status mayChangeCache();
/// The lock of a cache. Waits for as long as CacheUse says, and tells why.
/// @param waitedInVain  of the caller's last time: then it waits for a moment only
Result<FileLock> waitForCache(const std::filesystem::path& folder, std::atomic<bool>& waitedInVain);

} // namespace furrow
