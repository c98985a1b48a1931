#include "core/data/plan/block_plan.h"

#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/config/message_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace furrow {

using nlohmann::json;

namespace {

constexpr int kPlanVersion = 4; // 1: without segments that are left out, 2: without gaps, 3: without unreadable ones

/// The oldest that knows all that is in the plan: an older Furrow reads the plans that it can.
int versionOf(const PlannedBlock& block, const std::vector<SourcePosition>& after)
{
    const bool hasGaps
        = std::any_of(after.begin(), after.end(), [](const SourcePosition& p) { return !p.gaps.empty(); });
    if (block.rowsUnreadable() > 0)
        return kPlanVersion;
    return hasGaps ? 3 : block.rowsLeftOut() > 0 ? 2 : 1;
}

bool isPlausible(const PlannedBlock& block)
{
    std::int64_t rows = 0;
    for (const auto& segment : block.segments) {
        if (segment.file < 0 || segment.firstRow < 0 || segment.rows < 1 || segment.rows > INT64_MAX - rows)
            return false;
        rows += segment.rows;
    }
    for (const auto n : block.chunkRows)
        if (n < 1 || n > rows)
            return false;
    return rows > 0 && block.block >= 0 && block.source >= 0 && block.firstRow >= 0 && block.rows() == rows;
}

} // namespace

std::vector<Segment> rowsOfChunk(const PlannedBlock& block, std::int32_t column)
{
    std::vector<Segment> found;
    std::int64_t begin = 0; // of the chunk, counted in rows of the block
    for (std::int32_t before = 0; before < column; ++before)
        begin += block.chunkRows[static_cast<std::size_t>(before)];
    const std::int64_t end = begin + block.chunkRows[static_cast<std::size_t>(column)];
    std::int64_t row = 0; // of the block, at the beginning of the segment
    for (const Segment& segment : block.segments) {
        const std::int64_t first = std::max(begin, row);
        const std::int64_t past = std::min(end, row + segment.rows);
        if (first < past)
            found.push_back({ segment.file, 0, segment.firstRow + first - row, past - first, 0, segment.isLeftOut,
                segment.whyUnreadable });
        row += segment.rows;
    }
    return found;
}

std::int64_t PlannedBlock::rows() const
{
    return std::accumulate(chunkRows.begin(), chunkRows.end(), std::int64_t { 0 });
}

std::int64_t PlannedBlock::rowsLeftOut() const
{
    return std::accumulate(segments.begin(), segments.end(), std::int64_t { 0 },
        [](std::int64_t sum, const Segment& one) { return sum + (one.isLeftOut ? one.rows : 0); });
}

std::int64_t PlannedBlock::rowsUnreadable() const
{
    return std::accumulate(segments.begin(), segments.end(), std::int64_t { 0 },
        [](std::int64_t sum, const Segment& one) { return sum + (one.isUnreadable() ? one.rows : 0); });
}

Result<PlannedBlock> planWithoutUnreadable(const std::string& plan, const std::map<std::int32_t, Message>& files)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    for (Segment& segment : read.block.segments)
        if (const auto found = files.find(segment.file); found != files.end() && !segment.isLeftOut) {
            segment.isLeftOut = true;
            segment.whyUnreadable = found->second;
        }
    read.block.plan = writePlan(read.block, read.after);
    return std::move(read.block);
}

Result<PlannedBlock> planWithout(const std::string& plan, const std::set<std::int32_t>& files)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    for (Segment& segment : read.block.segments)
        segment.isLeftOut = segment.isLeftOut || files.contains(segment.file);
    read.block.plan = writePlan(read.block, read.after);
    return std::move(read.block);
}

std::string writePlan(const PlannedBlock& block, const std::vector<SourcePosition>& after)
{
    json segments = json::array();
    for (const auto& s : block.segments) {
        segments.push_back({ s.file, s.position, s.firstRow, s.rows, s.hash });
        if (s.isLeftOut)
            segments.back().push_back(true);
        if (s.isUnreadable()) {
            segments.back().push_back(s.whyUnreadable.text());
            segments.back().push_back(messageParts(s.whyUnreadable));
        }
    }
    json next = json::array();
    for (const auto& p : after) {
        next.push_back({ p.file, p.position, p.rowInFile, p.row, p.bytes, p.atEnd });
        json gaps = json::array();
        for (const auto& gap : p.gaps)
            gaps.push_back({ gap.file, gap.position, gap.rowInFile });
        if (!gaps.empty())
            next.back().push_back(std::move(gaps));
    }
    return json {
        { "v", versionOf(block, after) }, { "block", block.block }, { "source", block.source },
        { "first_row", block.firstRow }, { "chunk_rows", block.chunkRows }, { "segments", std::move(segments) },
        { "next", std::move(next) }
    }.dump(-1, ' ', false, json::error_handler_t::replace); // what a reader said may have any bytes
}

Result<ReadPlan> readPlan(std::string_view plan)
{
    JsonReading reading(plan);
    const JsonPart j = reading.root();
    const int version = j["v"].as<int>();
    if (reading.ok() && version > kPlanVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("A block plan of this run was written by a newer Furrow. Use that one.") };
    ReadPlan read;
    read.block.plan = plan;
    j["block"].to(read.block.block);
    j["source"].to(read.block.source);
    j["first_row"].to(read.block.firstRow);
    j["chunk_rows"].to(read.block.chunkRows);
    j["segments"].each([&read](const JsonPart& s) {
        read.block.segments.push_back({ s.at(0).as<std::int32_t>(), s.at(1).as<std::uint64_t>(),
            s.at(2).as<std::int64_t>(), s.at(3).as<std::int64_t>(), s.size() > 4 ? s.at(4).as<std::uint64_t>() : 0,
            s.size() > 5 && s.at(5).as<bool>(),
            s.size() > 7 ? messageOf(s.at(6).as<std::string>(), s.at(7).as<std::string>()) : Message() });
    });
    j["next"].each([&read](const JsonPart& p) {
        read.after.push_back({ p.at(0).as<std::int32_t>(), p.at(1).as<std::uint64_t>(), p.at(2).as<std::int64_t>(),
            p.at(3).as<std::int64_t>(), p.at(4).as<std::uint64_t>(), p.at(5).as<bool>() });
        if (p.size() > 6)
            p.at(6).each([&read](const JsonPart& gap) {
                read.after.back().gaps.push_back(
                    { gap.at(0).as<std::int32_t>(), gap.at(1).as<std::uint64_t>(), gap.at(2).as<std::int64_t>() });
            });
    });
    if (!reading.ok())
        return Error { ErrorCode::Corrupt,
            sentence("A block plan of this run cannot be read: %1. Restore tracker.sqlite from a copy of the run.",
                { reading.trouble() }) };
    if (!isPlausible(read.block))
        return Error { ErrorCode::Corrupt,
            sentence("A block plan of this run does not add up. Restore tracker.sqlite from a copy of the run.") };
    return read;
}

} // namespace furrow
