#include "core/data/block_plan.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace furrow {

using nlohmann::json;

namespace {

constexpr int kPlanVersion = 1;

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

std::int64_t PlannedBlock::rows() const
{
    return std::accumulate(chunkRows.begin(), chunkRows.end(), std::int64_t { 0 });
}

std::string writePlan(const PlannedBlock& block, const std::vector<SourcePosition>& after)
{
    json segments = json::array();
    for (const auto& s : block.segments)
        segments.push_back({ s.file, s.position, s.firstRow, s.rows, s.hash });
    json next = json::array();
    for (const auto& p : after)
        next.push_back({ p.file, p.position, p.rowInFile, p.row, p.bytes, p.atEnd });
    return json { { "v", kPlanVersion }, { "block", block.block }, { "source", block.source }, { "first_row", block.firstRow },
        { "chunk_rows", block.chunkRows }, { "segments", std::move(segments) }, { "next", std::move(next) } }
        .dump();
}

Result<ReadPlan> readPlan(std::string_view plan)
{
    try {
        const json j = json::parse(plan);
        if (j.at("v").get<int>() > kPlanVersion)
            return Error { ErrorCode::InvalidArgument, "A block plan of this run was written by a newer Furrow. Use that one." };
        ReadPlan read;
        read.block.plan = plan;
        read.block.block = j.at("block").get<std::int64_t>();
        read.block.source = j.at("source").get<std::int32_t>();
        read.block.firstRow = j.at("first_row").get<std::int64_t>();
        read.block.chunkRows = j.at("chunk_rows").get<std::vector<std::int64_t>>();
        for (const auto& s : j.at("segments"))
            read.block.segments.push_back({ s.at(0).get<std::int32_t>(), s.at(1).get<std::uint64_t>(), s.at(2).get<std::int64_t>(), s.at(3).get<std::int64_t>(), s.size() > 4 ? s.at(4).get<std::uint64_t>() : 0 });
        for (const auto& p : j.at("next"))
            read.after.push_back({ p.at(0).get<std::int32_t>(), p.at(1).get<std::uint64_t>(), p.at(2).get<std::int64_t>(), p.at(3).get<std::int64_t>(), p.at(4).get<std::uint64_t>(), p.at(5).get<bool>() });
        if (!isPlausible(read.block))
            return Error { ErrorCode::Corrupt, "A block plan of this run does not add up." };
        return read;
    } catch (const std::exception& e) { // nlohmann throws
        return Error { ErrorCode::Corrupt, std::string("A block plan of this run cannot be read (") + e.what() + ")." };
    }
}

} // namespace furrow
