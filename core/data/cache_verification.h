#pragma once

#include "core/data/source/block_cache.h"

namespace furrow {

/// What `furrowctl cache verify` found.
struct CacheVerification {
    std::int64_t blocks = 0; ///< checked
    std::int64_t downloads = 0; ///< checked: files and pieces of files of the hub
    std::int64_t lists = 0; ///< checked: lists of duplicates
    std::int64_t expanded = 0; ///< checked: texts of files that are compressed or have another encoding
    std::int64_t unproven = 0; ///< nothing tells what these must hold: what still grows, and what an older Furrow left
    std::vector<std::string> damaged; ///< put aside; they are prepared or fetched again when needed
};
/// Reads all of the cache that can be checked, and checks every byte.
Result<CacheVerification> verifyCache(BlockCache& cache, const std::function<bool(double)>& progress = {});

} // namespace furrow
