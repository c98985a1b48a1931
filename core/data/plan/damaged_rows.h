#pragma once

#include "core/data/plan/block_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furrow {

/// Rows of one file of a source, one behind the other, that cannot be read.
struct DamagedRows {
    std::int32_t file = 0; ///< index in the source
    std::int64_t firstRow = 0; ///< inside the file
    std::int64_t rows = 0;
    Message why {}; ///< what the reader said
};

/// The same block without these rows, which stay counted. Of a format whose rows are not hashed when they are planned:
/// the hash is one of a whole segment.
/// @param plan  of writePlan()
/// @param damaged  in the order of the block
Result<PlannedBlock> planWithoutRows(const std::string& plan, const std::vector<DamagedRows>& damaged);

/// "50 rows from row 250 (counted from 0) of page.parquet on cannot be read: ..."
/// @param unreadable  rows of the file
Message unreadableInWords(const Segment& unreadable, const std::string& path);

} // namespace furrow
