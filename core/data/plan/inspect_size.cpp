#include "core/data/plan/inspect_size.h"

#include "core/base/sentence.h"
#include "core/data/plan/passed_over.h"
#include "core/data/source/cached_access.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/row_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace furrow {

namespace {

constexpr std::uint64_t kCountBytes = 256ull << 20; ///< rows are counted exactly up to this much text
constexpr std::uint64_t kSampledBytes = 8ull << 20; ///< beyond, the mean row of so much text is taken
constexpr std::uint64_t kRemoteSampledBytes = 1ull << 20; ///< the same, of a file on the hub
constexpr std::size_t kMaxFooters = 32; ///< of Parquet files on the hub that are asked for their number of rows
constexpr std::int64_t kMinBlocks = 3;

/// Rows of one file: exact while `budget` bytes of text are left, else estimated from the first part.
struct RowCount {
    double rows = 0;
    bool exact = true;
    std::uint64_t largest = 0; ///< bytes of the largest row that was seen
    std::uint64_t textBytes = 0; ///< of all rows, when they were all counted
};
Result<RowCount> countRows(DirectAccess& access, const DataFile& file, const RunConfig& config,
    const RowOptions& options, const std::function<bool(std::uint64_t)>& isChosen, std::uint64_t& budget,
    const std::function<bool(double)>& progress)
{
    FURROW_TRY_ASSIGN(auto scanner, openRowScanner(access, file, options, 0));
    const bool metadataOnly = file.format.format == TextFormat::Parquet;
    const std::uint64_t expansion = file.isCompressed() ? 4 : 1;
    const bool remote = isDistantPath(file.path);
    const bool whole = metadataOnly || (!remote && file.sizeBytes * expansion <= budget);
    const std::uint64_t stop = whole ? UINT64_MAX : remote ? kRemoteSampledBytes : kSampledBytes;
    RowCount count;
    std::uint64_t bytes = 0;
    for (std::uint64_t size = 0;;) {
        const auto more = scanner->next(size);
        if (!more.ok() && access.asksAnew(file, 0, more.error()))
            return countRows(access, file, config, options, isChosen, budget, progress);
        if (!more.ok() && PassedOver::takes(config, more.error())) { // what stands behind it nobody can count
            count.exact = false;
            return count;
        }
        if (!more.ok())
            return more.error();
        if (!more.value()) {
            budget -= metadataOnly ? 0 : std::min(budget, bytes);
            count.textBytes = bytes;
            return count;
        }
        count.rows += isChosen(scanner->unit()) ? 1 : 0;
        bytes += size;
        count.largest = std::max(count.largest, size);
        if (bytes >= stop)
            break;
        if (static_cast<std::int64_t>(count.rows) % 65536 == 0 && progress
            && !progress(static_cast<double>(bytes) / static_cast<double>(file.sizeBytes * expansion)))
            return inspectionCancelled();
    }
    // A compressed file is taken to hold four times its size of text, and at least what was seen of it.
    count.rows *= std::max(1.0, static_cast<double>(file.sizeBytes * expansion) / static_cast<double>(bytes));
    count.exact = false;
    return count;
}

} // namespace

Status countAllRows(DirectAccess& access, const DataManifest& manifest, const RunConfig& config,
    DataInspection& inspection, const std::function<bool(double)>& progress)
{
    std::uint64_t budget = kCountBytes;
    double sum = 0;
    bool exact = true;
    std::uint64_t largest = 0;
    const RowChoice choice(config, manifest);
    for (std::size_t s = 0; s < manifest.sources.size(); ++s) {
        const auto& source = manifest.sources[s];
        double rows = 0;
        const bool remote = isDistantPath(source.spec);
        std::uint64_t counted = 0;
        for (std::size_t f = 0; f < source.files.size(); ++f) {
            const auto& file = source.files[f];
            if (remote && counted > 0
                && (file.format.format != TextFormat::Parquet || source.files.size() > kMaxFooters)) {
                rows *= static_cast<double>(source.sizeBytes())
                    / static_cast<double>(counted); // the first file stands for all
                exact = false;
                break;
            }
            counted += file.sizeBytes;
            if (!choice.keepsFile(s, f))
                continue;
            FURROW_TRY_ASSIGN(auto count,
                countRows(
                    access, file, config, rowOptions(config, source),
                    [&](std::uint64_t unit) { return choice.keeps(s, f, unit); }, budget, progress));
            rows += count.rows;
            exact = exact && count.exact;
            largest = std::max(largest, count.largest);
            if (!file.isStoredPlain() && fillsCache(file))
                inspection.expandedBytes = std::max(inspection.expandedBytes, count.textBytes);
        }
        rows = std::max(0.0, rows - static_cast<double>(config.startSample));
        if (config.maxSamples > 0)
            rows = std::min(rows, static_cast<double>(config.maxSamples));
        sum += rows;
    }
    inspection.rows = static_cast<std::int64_t>(sum);
    inspection.rowsExact = exact;
    inspection.chunksExact
        = largest <= static_cast<std::uint64_t>(config.chunkBytes) / static_cast<std::uint64_t>(config.chunkSamples);
    return {};
}

void chooseBlockSize(const RunConfig& config, std::size_t sources, DataInspection& inspection)
{
    inspection.samplesPerBlock = config.samplesPerBlock;
    const std::int64_t rows = inspection.rows;
    if (rows < kMinBlocks * config.samplesPerBlock) {
        std::int64_t size = std::max<std::int64_t>(1, rows / kMinBlocks);
        if (size > config.chunkSamples)
            size -= size % config.chunkSamples;
        inspection.samplesPerBlock = std::min(size, config.samplesPerBlock);
    }
    if (inspection.samplesPerBlock != config.samplesPerBlock)
        inspection.samplesPerBlockReason
            = sentence("The data has too few samples (%1): blocks of %2 would be fewer than %3, so a block has %4.",
                { inspection.rowsExact ? Argument(Count(rows)) : sentence("about %1", { Count(rows) }),
                    Count(config.samplesPerBlock), std::to_string(kMinBlocks), Count(inspection.samplesPerBlock) });
    if (!inspection.rowsExact || sources != 1)
        return;
    const std::int64_t size = inspection.samplesPerBlock;
    const auto chunksOf = [&](std::int64_t n) { return (n + config.chunkSamples - 1) / config.chunkSamples; };
    inspection.blocks = (rows + size - 1) / size;
    inspection.chunks = rows / size * chunksOf(size) + chunksOf(rows % size);
}

} // namespace furrow
