#include "core/run/audit/block_plans.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <string>
#include <utility>

namespace furrow {

namespace {

FileGap beginOf(const Segment& segment) { return { segment.file, segment.position, segment.firstRow }; }

/// Where planning goes on in a file of the source: what could not be planned when its turn was has a place of its own.
FileGap placeIn(const SourcePosition& after, std::int32_t file)
{
    const auto gap = std::ranges::find(after.gaps, file, &FileGap::file);
    return gap != after.gaps.end() ? *gap : FileGap { after.file, after.position, after.rowInFile };
}

/// Whether `to` is at least so many rows behind `from`. A row takes one byte of a text or more, and one place where
/// places are rows.
bool leadsTo(const FileGap& from, const FileGap& to, std::uint64_t least)
{
    if (to.file != from.file)
        return to.file > from.file;
    if (to.rowInFile < from.rowInFile || to.position < from.position)
        return false;
    const auto rows = static_cast<std::uint64_t>(to.rowInFile) - static_cast<std::uint64_t>(from.rowInFile);
    const std::uint64_t places = to.position - from.position;
    return rows >= least && places >= rows && (rows > 0 || places == 0);
}

/// Whether so much text lies between two places of a text.
bool holds(const FileGap& from, const FileGap& to, std::uint64_t bytes)
{
    return from.file != to.file || (to.position >= from.position && to.position - from.position >= bytes);
}

} // namespace

Status BlockPlans::look(const LedgerReader::BlockRow& row)
{
    const std::string number = std::to_string(row.block);
    auto read = readPlan(row.plan);
    if (!read.ok())
        return Error { read.error().code, sentence("block %1: %2", { number, read.error().message }) };
    const PlannedBlock& plan = read.value().block;
    if (plan.block != row.block || plan.source != row.source || plan.firstRow != row.firstRow || plan.rows() != row.rows
        || std::ssize(plan.chunkRows) != row.chunks)
        return Error { ErrorCode::Corrupt,
            sentence(
                "block %1: its plan has other rows or chunks than its row in the tracker: one of them was changed by hand",
                { number }) };
    const auto source = static_cast<std::size_t>(plan.source);
    auto& after = read.value().after;
    if (!goesOnFrom(source, plan) || source >= after.size() || after[source].row != plan.firstRow + plan.rows())
        return Error { ErrorCode::Corrupt,
            sentence(
                "block %1: its plan does not begin where the one before it ended, or does not end where the next one begins: it was changed by hand",
                { number }) };
    if (!addsUp(source, plan, after[source]))
        return Error { ErrorCode::Corrupt,
            sentence(
                "block %1: its plan has the same place of its source twice, or ends before its own rows do: it was changed by hand",
                { number }) };
    after_ = std::move(after);
    return {};
}

bool BlockPlans::goesOnFrom(std::size_t source, const PlannedBlock& plan) const
{
    if (source >= after_.size())
        return after_.empty();
    const Segment& first = plan.segments.front();
    return leadsTo(placeIn(after_[source], first.file), beginOf(first), 0);
}

bool BlockPlans::addsUp(std::size_t source, const PlannedBlock& plan, const SourcePosition& after) const
{
    const auto isTornFrom = [](const Segment& one, const Segment& next) {
        return !leadsTo(beginOf(one), beginOf(next), static_cast<std::uint64_t>(one.rows));
    };
    if (std::ranges::adjacent_find(plan.segments, isTornFrom) != plan.segments.end())
        return false;
    const Segment& last = plan.segments.back();
    const FileGap end = placeIn(after, last.file);
    const SourcePosition before = source < after_.size() ? after_[source] : SourcePosition {};
    const bool saysBytes = last.hash != 0 && before.gaps == after.gaps; // else those of files passed by are among them
    return leadsTo(beginOf(last), end, static_cast<std::uint64_t>(last.rows)) && after.bytes >= before.bytes
        && (!saysBytes || holds(placeIn(before, last.file), end, after.bytes - before.bytes));
}

} // namespace furrow
