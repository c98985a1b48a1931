// How many bytes Parquet on a hub costs, against those of the column that is needed.

#include "core/base/file_system.h"
#include "core/base/random.h"
#include "core/trials/bench/bench_tools.h"
#include "core/trials/bench/data_bench.h"
#include "core/trials/bench/loop_hub.h"
#include "core/data/block/block_writer.h"
#include "core/data/source/data_manifest.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/source/parquet_rows.h"

#include <array>
#include <future>
#include <span>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using nlohmann::json;

constexpr std::int64_t kBlockRows = 1500;
constexpr std::size_t kWindowBlocks = 24; ///< as shuffle_window_blocks is by default

struct Shape {
    const char* name;
    std::int64_t rows;
    std::size_t textBytes; ///< of a row
    BenchParquet parquet;
};

/// How the blocks of an epoch are asked for.
struct Way {
    const char* name;
    bool shuffled = true; ///< in groups, as the feeder may ask for them
    int resumes = 0; ///< the manager is opened anew so often, each time in the middle of a block
    double cacheBlocks = 0; ///< the cache holds so many; 0: all that comes
    int runs = 1; ///< in one workspace, at once
};

std::vector<std::string> textsOf(const Shape& shape)
{
    Random random(3);
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < shape.rows; ++i) {
        std::string text = std::to_string(i) + " ";
        while (text.size() < shape.textBytes)
            text += static_cast<char>('0' + random.below(64));
        texts.push_back(std::move(text));
    }
    return texts;
}

void shuffleInGroups(std::vector<PlannedBlock>& blocks, std::uint64_t seed)
{
    Random random(seed);
    for (std::size_t begin = 0; begin < blocks.size(); begin += kWindowBlocks) {
        const auto size = std::min(kWindowBlocks, blocks.size() - begin);
        for (std::size_t i = size; i > 1; --i)
            std::swap(blocks[begin + i - 1], blocks[begin + random.below(i)]);
    }
}

/// One run through the data. A resume stands in for a kill: what lies in the cache is all that is left.
Status train(const RunConfig& config, const std::string& manifest, const std::filesystem::path& cache, const Way& way,
    std::uint64_t seed)
{
    std::vector<PlannedBlock> order;
    for (int attempt = 0; attempt <= way.resumes; ++attempt) {
        FURROW_TRY_ASSIGN(auto data, openBenchData(config, cache, kBlockRows, byteTokenizer(), manifest));
        if (order.empty())
            order = std::move(data.blocks);
        if (way.shuffled && attempt == 0)
            shuffleInGroups(order, seed);
        const auto share = [&](int part) {
            return order.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(way.resumes + 1);
        };
        for (std::size_t i = share(attempt); i < share(attempt + 1); ++i) {
            FURROW_TRY(data.manager.pin({}));
            FURROW_TRY(data.manager.prepare(order[i]));
        }
        if (attempt < way.resumes) { // the block that was under way
            int chunks = 0;
            (void)data.manager.prepare(order[share(attempt + 1)], [&chunks] { return ++chunks < 2; });
        }
    }
    return {};
}

Result<json> measure(const std::string& bytes, const Shape& shape, const Way& way, const std::filesystem::path& cache)
{
    LoopHub hub({ { "train.parquet", bytes } });
    const UseLoopHub use(hub);
    auto config = benchConfig("hf://bench/data");
    config.chunkSamples = 250;
    if (way.cacheBlocks > 0)
        config.cacheGiB = way.cacheBlocks
            * estimatedBlockBytes(kBlockRows, static_cast<double>(kBlockRows) * static_cast<double>(shape.textBytes),
                byteTokenizer()->vocabularySize())
            / (1 << 30);
    const KeepHubPieces kept(cache, config.cacheGiB); // as making a run does
    FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
    std::vector<std::future<Status>> runs;
    for (int run = 0; run < way.runs; ++run)
        runs.push_back(std::async(std::launch::async,
            [&, run] { return train(config, inspection.manifest, cache, way, static_cast<std::uint64_t>(run)); }));
    Status failed;
    for (auto& run : runs)
        if (auto status = run.get(); !status.ok())
            failed = status;
    if (!failed.ok())
        return failed.error();
    return json { { "shape", shape.name }, { "way", way.name }, { "file_bytes", bytes.size() },
        { "fetched_bytes", hub.servedBytes() }, { "requests", sharedHubClient()->traffic().requests } };
}

/// Bytes of the text column and of the footer.
Result<double> neededBytes(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto source, openLocalSource(path));
    DataFile file;
    file.path = "train.parquet";
    file.sizeBytes = source->sizeBytes();
    FURROW_TRY_ASSIGN(auto columns, readParquetColumns(source, file.path));
    FURROW_TRY_ASSIGN(auto share, parquetShare(source, file, columns.text.front()));
    std::array<std::uint8_t, 8> end {}; // the size of the footer in four bytes, "PAR1"
    FURROW_TRY(source->readAt(file.sizeBytes - end.size(), std::as_writable_bytes(std::span(end))));
    const std::uint32_t footer = end[0] | end[1] << 8 | end[2] << 16 | static_cast<std::uint32_t>(end[3]) << 24;
    return share * static_cast<double>(file.sizeBytes) + footer;
}

} // namespace

Result<json> benchHubTransfers(const ScratchFolder& scratch, const std::vector<std::string>& texts)
{
    constexpr LoopDistance kFar { 0.06, 10e6 };
    const auto path = scratch / "far.parquet";
    if (auto status = writeBenchParquet(path, texts, { 20'000, false, 2, 800 }); !status.ok())
        return json { { "skipped", status.error().message } };
    FURROW_TRY_ASSIGN(auto parquet, readFile(path));
    const std::pair<const char*, std::map<std::string, std::string>> files[] = {
        { "whole files (jsonl)", { { "train.jsonl", asJsonLines(texts) } } },
        { "a column of Parquet", { { "train.parquet", parquet } } },
    };
    json table = json::array();
    for (const auto& [name, content] : files)
        for (const int transfers : { 1, 2, 4, 8 }) {
            LoopHub hub(content, kFar);
            const UseLoopHub use(hub, transfers);
            FURROW_TRY_ASSIGN(auto inspection, inspectData(benchConfig("hf://bench/data")));
            const auto lookedAt = hub.servedBytes();
            const Stopwatch watch;
            FURROW_TRY(train(benchConfig("hf://bench/data"), inspection.manifest,
                scratch / ("far-" + std::to_string(table.size())).c_str(), { "in order", false }, 0));
            table.push_back({ { "what", name }, { "transfers", transfers }, { "seconds", watch.seconds() },
                { "fetched_bytes", hub.servedBytes() - lookedAt },
                { "requests", sharedHubClient()->traffic().requests } });
        }
    return json { { "latency_s", kFar.latencySeconds }, { "connection_bytes_per_s", kFar.bytesPerSecond },
        { "rows", std::move(table) } };
}

Result<json> benchHubBytes(const ScratchFolder& scratch, double scale)
{
    const auto rows = [scale](std::int64_t count) {
        return std::max<std::int64_t>(3 * kBlockRows, static_cast<std::int64_t>(static_cast<double>(count) * scale));
    };
    const Shape shapes[] = {
        { "one row group", rows(60'000), 1300, { 1'000'000, false, 0, 0 } },
        { "text a third of a row", rows(30'000), 800, { 1000, false, 2, 800 } },
        { "one row group, text a third of a row", rows(30'000), 800, { 1'000'000, false, 2, 800 } },
        { "many small row groups", rows(30'000), 800, { 100, false, 1, 400 } },
        { "lists", rows(30'000), 800, { 5000, true, 1, 400 } },
        { "one of six columns", rows(20'000), 800, { 2000, false, 5, 800 } },
    };
    const Way ways[] = { { "in order", false }, { "shuffled" }, { "shuffled, 10 resumes", true, 10 },
        { "in order, cache of 2 blocks", false, 0, 2.2 }, { "shuffled, cache of 2 blocks", true, 0, 2.2 },
        { "three runs at once", true, 0, 0, 3 } };
    json table = json::array();
    for (const Shape& shape : shapes) {
        const auto path = scratch / "shape.parquet";
        if (auto status = writeBenchParquet(path, textsOf(shape), shape.parquet); !status.ok())
            return json { { "skipped", status.error().message } };
        auto bytes = readFile(path);
        auto needed = neededBytes(path);
        if (!bytes.ok() || !needed.ok())
            return bytes.ok() ? needed.error() : bytes.error();
        for (const Way& way : ways) {
            auto row
                = measure(bytes.value(), shape, way, scratch / ("hub-bytes-" + std::to_string(table.size())).c_str());
            if (!row.ok())
                return row.error().in(std::string(shape.name) + ", " + way.name);
            row.value()["needed_bytes"] = static_cast<std::uint64_t>(needed.value());
            row.value()["ratio"] = row.value()["fetched_bytes"].get<double>() / needed.value();
            table.push_back(std::move(row).value());
        }
    }
    return table;
}

} // namespace furrow
