#pragma once

#include "core/data/block/prepared_block.h"
#include "core/data/source/data_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/sample_row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// A row that cannot be used, or a stretch of rows that are left out because they cannot be read (bad_files).
struct UnreadableRow {
    SampleRow row; ///< the first one
    std::optional<std::int64_t> line; ///< of the file, from 1, where its format tells it
    std::string what; ///< "is broken JSON"; of a stretch what its reader said
    Message words; ///< "row 2 (line 3) of chats.jsonl is broken JSON"
    std::int64_t block = 0;
    std::int32_t column = 0; ///< of its chunk
    std::int64_t rows = 1;
    bool isStretch = false;
};

/// The unreadable rows of a block that it names, and the stretches that its plan does, in the order of the data. Where
/// its plan cannot be read there is none.
std::vector<UnreadableRow> unreadableRowsOf(
    const PreparedBlock& block, std::int64_t number, const std::string& plan, const DataManifest& manifest);

struct UnreadableRows {
    std::vector<UnreadableRow> rows; ///< in the order of the data
    std::int64_t listed = 0; ///< rows that these are
    std::int64_t known = 0; ///< of all blocks prepared so far, named or not: a block keeps the first 100 by name
    std::vector<Message> problems; ///< blocks that cannot be looked at now
};
/// The unreadable rows of a run, at most `most`. Blocks that are not in the cache now are prepared again from the
/// source. May be called while the run trains.
Result<UnreadableRows> unreadableRows(const RunPaths& paths, std::int64_t most);

} // namespace furrow
