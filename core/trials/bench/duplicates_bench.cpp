#include "core/base/path.h"
#include "core/base/random.h"
#include "core/trials/bench/bench_tools.h"
#include "core/data/source/block_cache.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/inspect.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace furrow {

using nlohmann::json;

namespace {

constexpr std::uint64_t kOneInRepeats = 10; ///< rows

/// Lines of about 60 bytes; of ten one repeats a line from anywhere.
Status writeLines(const std::filesystem::path& path, std::int64_t rows)
{
    std::ofstream out(path, std::ios::binary);
    for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(rows); ++row) {
        const bool repeats = mixSeed({ row, 1 }) % kOneInRepeats == 0;
        const std::uint64_t text = repeats ? mixSeed({ row, 2 }) % static_cast<std::uint64_t>(rows) : row;
        out << "line " << mixSeed({ text }) << " of a text with many short rows in it\n";
    }
    out.close();
    return out ? Status {}
               : Status(Error {
                     ErrorCode::Io, "The bench cannot write " + utf8Text(path) + ". Check whether the disk is full." });
}

} // namespace

Result<json> benchDuplicates(const ScratchFolder& scratch, std::int64_t rows)
{
    const auto path = scratch / "rows.txt";
    FURROW_TRY(writeLines(path, rows));
    auto config = benchConfig(utf8Text(path));
    config.duplicates = Duplicates::Skip;
    const auto cache = scratch / "duplicates";
    const auto list = scratch / "duplicates.bin";
    FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
    auto manager
        = BlockManager::open(config, inspection.manifest, config.samplesPerBlock, cache, byteTokenizer(), list);
    auto looking = BlockCache::open(cache, 0);
    if (!manager.ok() || !looking.ok())
        return manager.ok() ? looking.error() : manager.error();
    std::uint64_t peak = 0;
    const Stopwatch clock;
    std::uint64_t textBytes = 0;
    const auto found = manager.value().findDuplicates([&](std::uint64_t, std::uint64_t all) {
        textBytes = all;
        peak = std::max(peak, looking.value()->usedBytes().value());
        return true;
    });
    const double seconds = clock.seconds();
    if (!found.ok())
        return found.error();
    FURROW_TRY_ASSIGN(const auto index, DuplicateIndex::open(list));
    const auto listBytes = std::filesystem::file_size(list);
    const double perRow = static_cast<double>(peak + listBytes) / static_cast<double>(rows);
    std::filesystem::remove(path);
    return json { { "rows", rows }, { "text_bytes", textBytes }, { "repeats", index.repeats() }, { "seconds", seconds },
        { "rows_per_s", static_cast<double>(rows) / seconds }, { "temporary_bytes", peak }, { "list_bytes", listBytes },
        { "disk_bytes_per_row", perRow }, { "disk_bytes_of_100_million_rows", 1e8 * perRow } };
}

} // namespace furrow
