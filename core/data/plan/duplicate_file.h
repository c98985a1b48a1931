#pragma once

#include "core/data/plan/duplicate_search.h"

namespace furrow {

/// The list of duplicates as a run keeps it in its folder: made once, for what was trained must be what is prepared
/// again, also when the cache was emptied or a file of the data is gone. A copy lies in the cache for other runs over
/// the same data.

/// By its table alone, which tells what is a repeat: pages are checked where they are read. NotFound: there is none,
/// its table is damaged (which is logged) or it was made of other data.
Result<DuplicateIndex> openDuplicates(const std::filesystem::path& path, const std::string& key);
/// Copies what another run found to `path`, every byte of it checked. NotFound: nothing is there; what is damaged is
/// put aside.
Result<DuplicateIndex> duplicatesFromCache(
    BlockCache& cache, const std::string& key, const std::filesystem::path& path);
/// Writes what a search has read to `path`, durably, and a copy of it to the cache where there is room and every file
/// could be read.
Result<DuplicateIndex> writeDuplicates(DuplicateSearch& search, const std::string& key,
    const std::filesystem::path& path, BlockCache& cache, const std::function<bool()>& goOn);

} // namespace furrow
