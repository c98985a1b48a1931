#pragma once

#include "core/data/plan/duplicate_index.h"
#include "core/data/source/data_manifest.h"

#include <functional>

namespace furrow {

struct Row;

/// Where a walked row stands.
struct WalkedRow {
    RowPlace place;
    const DataFile& file;
    std::size_t source = 0;
};
/// What a walk does behind a row.
enum class Walk { On, NextSource, End };

/// Each file that is far away costs a request at least.
enum class DistantFiles { All, FirstWithRows };

/// Walks the rows that belong to the data set (fraction, start, most), in source order, one after the other, without a
/// cache. Whether a row can be read, passes the filters or is left out by name is not asked: the visitor gets all of
/// them. Its error ends the walk, with the row named.
Status walkRows(const RunConfig& config, const DataManifest& manifest,
    const std::function<Result<Walk>(const Row&, const WalkedRow&)>& visit, DistantFiles distant = DistantFiles::All);

} // namespace furrow
