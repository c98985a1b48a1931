#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace furrow {

struct DataBenchOptions {
    std::filesystem::path folder; ///< a scratch folder is made inside and removed
    std::int64_t samples = 60'000; ///< of generated text, about 800 bytes each
    std::int64_t rows = 5'000'000; ///< short ones, among which duplicates are looked for
    std::vector<int> workers = { 1, 2, 3, 4, 8 };
    std::string only; ///< one row of the table; "": all
};

/// Figures of the data path on this machine, each row with what it measures and its unit: downloads, preparing,
/// batches, resume, healing, disk. Generated text is prose of 20,000 words drawn by Zipf's law.
Result<nlohmann::json> benchData(const DataBenchOptions& options);

/// One reader against other ways to share data among workers: rows and bytes fetched and trained, and latency and MB/s
/// of one batch for sequence lengths from 1k to 256k (10 warm-ups, median of 50).
Result<nlohmann::json> benchReaders(const DataBenchOptions& options);

/// Prose for benchmarks: the same for the same arguments.
std::vector<std::string> benchTexts(std::int64_t samples, std::uint64_t seed);
/// How a Parquet file of benchmarks is laid out. Beside the text there is always a number.
struct BenchParquet {
    std::size_t groupRows = 1000; ///< rows of a row group
    bool asList = false; ///< each text is a list of two strings
    int otherColumns = 0; ///< of random letters
    std::size_t otherBytes = 0; ///< of each in a row
    bool isBare = false; ///< neither compressed nor with checksums of its pages
};
/// Parquet, zstd and pages with checksums unless bare, the column `text` first. InvalidArgument in a build without
/// Parquet.
Status writeBenchParquet(
    const std::filesystem::path& path, const std::vector<std::string>& texts, const BenchParquet& shape = {});

} // namespace furrow
