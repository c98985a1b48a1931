#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Rows that follow each other inside one file. A fraction leaves gaps between segments.
struct Segment {
    std::int32_t file = 0; ///< index in the source
    std::uint64_t position = 0; ///< of the first row: byte offset in the plain text, row index for Parquet
    std::int64_t firstRow = 0; ///< row number inside the file
    std::int64_t rows = 0;
    std::uint64_t hash
        = 0; ///< of the rows as they stood in the file when they were planned; 0: not known (Parquet, older plans)
    bool isLeftOut = false; ///< the rows are counted, and never read: their file is not what the run was made of, or
    Message whyUnreadable {}; ///< they cannot be read, and why; "": it is the file

    bool isUnreadable() const { return isLeftOut && !whyUnreadable.empty(); }
    bool holds(std::int32_t ofFile, std::int64_t row) const
    {
        return ofFile == file && row >= firstRow && row < firstRow + rows;
    }
    bool operator==(const Segment&) const = default;
};

/// A block whose row range is certain. `plan` alone is enough to find it again in another process.
struct PlannedBlock {
    std::int64_t block = 0; ///< index in the data set
    std::int32_t source = 0;
    std::int64_t firstRow = 0; ///< number among the rows of the source's fraction
    std::vector<std::int64_t> chunkRows; ///< rows of each chunk
    std::vector<Segment> segments;
    std::string plan; ///< JSON of the above and of where every source goes on

    std::int64_t rows() const;
    std::int64_t rowsLeftOut() const; ///< of the segments that are left out
    std::int64_t rowsUnreadable() const; ///< of those that are left out because they cannot be read
};

/// The rows of one chunk: the stretches of the block's segments that belong to it, with `firstRow`, `rows` and whether
/// they are left out alone.
std::vector<Segment> rowsOfChunk(const PlannedBlock& block, std::int32_t column);

/// The rest of a file, from a row on, that could not be planned when what stands behind it was.
struct FileGap {
    std::int32_t file = 0;
    std::uint64_t position = 0;
    std::int64_t rowInFile = 0;
    bool operator==(const FileGap&) const = default;
};

/// Where planning of one source goes on.
struct SourcePosition {
    std::int32_t file = 0;
    std::uint64_t position = 0;
    std::int64_t rowInFile = 0;
    std::int64_t row = 0; ///< rows of the source's fraction passed so far
    std::uint64_t bytes = 0; ///< of text planned so far: decides whose turn it is
    bool atEnd = false;
    std::vector<FileGap> gaps {}; ///< of the files before
    bool operator==(const SourcePosition&) const = default;
};

/// The JSON text of a plan.
/// @param after  where each source goes on after this block
std::string writePlan(const PlannedBlock& block, const std::vector<SourcePosition>& after);

/// The same block without the rows of some files of its source, which stay counted.
/// @param plan  of writePlan()
Result<PlannedBlock> planWithout(const std::string& plan, const std::set<std::int32_t>& files);
/// The same of files of which no row can be read, each with why: their rows count as unreadable.
Result<PlannedBlock> planWithoutUnreadable(const std::string& plan, const std::map<std::int32_t, Message>& files);

struct ReadPlan {
    PlannedBlock block;
    std::vector<SourcePosition> after;
};
/// Reads what writePlan wrote; the text comes from a ledger and is checked.
Result<ReadPlan> readPlan(std::string_view plan);

} // namespace furrow
