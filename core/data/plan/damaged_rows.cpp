#include "core/data/plan/damaged_rows.h"

#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

namespace {

/// A part of a segment whose positions are its rows.
/// @param whyUnreadable  "": it can be read
Segment part(const Segment& whole, std::int64_t first, std::int64_t past, const Message& whyUnreadable = {})
{
    Segment one = whole;
    one.position += static_cast<std::uint64_t>(first - whole.firstRow);
    one.firstRow = first;
    one.rows = past - first;
    one.isLeftOut = !whyUnreadable.empty();
    one.whyUnreadable = whyUnreadable;
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
            into.push_back(part(segment, at, first));
        into.push_back(part(segment, first, past, rows.why));
        at = past;
    }
    if (at < end)
        into.push_back(part(segment, at, end));
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

Message unreadableInWords(const Segment& unreadable, const std::string& path)
{
    const std::string first = std::to_string(unreadable.firstRow);
    return unreadable.rows == 1
        ? sentence("row %1 (counted from 0) of %2 cannot be read: %3", { first, path, unreadable.whyUnreadable })
        : sentence("%1 rows from row %2 (counted from 0) of %3 on cannot be read: %4",
              { Count(unreadable.rows), first, path, unreadable.whyUnreadable });
}

} // namespace furrow
