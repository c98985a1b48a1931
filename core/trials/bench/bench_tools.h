#pragma once

#include "core/base/quantile.h"
#include "core/base/scratch_folder.h"
#include "core/base/stopwatch.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace furrow {

/// {"text": ...} lines.
std::string asJsonLines(const std::vector<std::string>& texts);

/// An opened data set with all its blocks planned.
struct BenchData {
    BlockManager manager;
    std::vector<PlannedBlock> blocks;
};
/// @param manifest  of inspectData, as a run keeps it; "": looked at now
Result<BenchData> openBenchData(const RunConfig& config, const std::filesystem::path& cache,
    std::int64_t samplesPerBlock, std::shared_ptr<const Tokenizer> tokenizer, std::string manifest = {});
RunConfig benchConfig(const std::string& source);

/// Bytes asked of the hub for Parquet of several shapes, in several orders, with resumes, small caches and several runs
/// at once, against the bytes of the text column. Each of the files has some tens of MB at a scale of 1.
Result<nlohmann::json> benchHubBytes(const ScratchFolder& scratch, double scale);
/// Seconds to prepare all data of a hub that is far away, over 1 to 8 transfers at once.
Result<nlohmann::json> benchHubTransfers(const ScratchFolder& scratch, const std::vector<std::string>& texts);
/// Looks for duplicates among so many short rows: time, and disk at its most (the temporary file and the list).
Result<nlohmann::json> benchDuplicates(const ScratchFolder& scratch, std::int64_t rows);

} // namespace furrow
