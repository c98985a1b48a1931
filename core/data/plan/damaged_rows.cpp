#include "core/data/plan/damaged_rows.h"

#include <algorithm>

namespace furrow {

namespace {

/// A part of a segment whose positions are its rows.
Segment part(const Segment& whole, std::int64_t first, std::int64_t past, bool isLeftOut)
{
    Segment one = whole;
    one.position += static_cast<std::uint64_t>(first - whole.firstRow);
    one.firstRow = first;
    one.rows = past - first;
    one.isLeftOut = isLeftOut;
    return one;
}

void cut(const Segment& segment, const std::vector<DamagedRows>& damaged, std::vector<Segment>& into)
{
    std::int64_t at = segment.firstRow;
    const std::int64_t end = segment.firstRow + segment.rows;
    for (const DamagedRows& rows : damaged) {
        const std::int64_t first = std::max(at, rows.firstRow);
        const std::int64_t past = std::min(end, rows.firstRow + rows.rows);
        if (rows.file != segment.file || first >= past)
            continue;
        if (at < first)
            into.push_back(part(segment, at, first, false));
        into.push_back(part(segment, first, past, true));
        at = past;
    }
    if (at < end)
        into.push_back(part(segment, at, end, false));
}

} // namespace

Result<PlannedBlock> planWithoutRows(const std::string& plan, const std::vector<DamagedRows>& damaged)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    std::vector<Segment> segments;
    for (const Segment& segment : read.block.segments) {
        if (segment.isLeftOut || segment.hash != 0)
            segments.push_back(segment);
        else
            cut(segment, damaged, segments);
    }
    read.block.segments = std::move(segments);
    read.block.plan = writePlan(read.block, read.after);
    return std::move(read.block);
}

} // namespace furrow
