#pragma once

#include "core/tracker/types.h"

#include <cstdint>

namespace furrow {

/// @param times  -1: these rows are none of them any more
inline void add(RowCounts& sum, const RowCounts& more, std::int64_t times = 1)
{
    sum.rows += times * more.rows;
    sum.samples += times * more.samples;
    sum.filtered += times * more.filtered;
    sum.failed += times * more.failed;
    sum.heldOut += times * more.heldOut;
    sum.duplicates += times * more.duplicates;
}

/// Of each row it is known what happened to it.
inline bool addsUp(const RowCounts& counts)
{
    return counts.samples + counts.filtered + counts.failed + counts.heldOut + counts.duplicates == counts.rows;
}

} // namespace furrow
