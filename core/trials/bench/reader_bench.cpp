#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/trials/bench/bench_tools.h"
#include "core/trials/bench/data_bench.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/block/chunk_windows.h"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using nlohmann::json;

constexpr int kWorkers = 4;
constexpr int kWarmUps = 10;
constexpr int kMeasured = 50;
constexpr std::int64_t kChunkSamples = 2000;

struct Share {
    std::int64_t rowsFetched = 0;
    std::int64_t rowsTrained = 0;
    std::uint64_t bytesFetched = 0;
    std::uint64_t tokens = 0;
};

/// Reads rows [begin, end) of the source, tokenises those that `isOwn` names.
Result<Share> readRows(const DataSource& source, const RunConfig& config, std::int64_t begin, std::int64_t end,
    const std::function<bool(std::int64_t)>& isOwn, const Tokenizer& tokenizer)
{
    DirectAccess access;
    FURROW_TRY_ASSIGN(auto reader, openRowReader(access, source.files.front(), rowOptions(config, source), 0));
    Share share;
    std::vector<TokenId> tokens;
    Row row;
    for (std::int64_t i = 0; i < end; ++i) {
        FURROW_TRY_ASSIGN(auto more, reader->next(row));
        if (!more)
            break;
        ++share.rowsFetched;
        share.bytesFetched += row.sizeBytes;
        if (i < begin || !isOwn(i))
            continue;
        tokens.clear();
        FURROW_TRY(tokenizer.encode(row.text, tokens));
        ++share.rowsTrained;
        share.tokens += tokens.size();
    }
    return share;
}

json shareJson(const char* way, const std::vector<Share>& shares, double seconds)
{
    Share all;
    for (const auto& s : shares) {
        all.rowsFetched += s.rowsFetched;
        all.rowsTrained += s.rowsTrained;
        all.bytesFetched += s.bytesFetched;
    }
    return { { "way", way }, { "workers", kWorkers }, { "rows_fetched", all.rowsFetched },
        { "rows_trained", all.rowsTrained }, { "bytes_fetched", all.bytesFetched },
        { "fetched_per_trained",
            static_cast<double>(all.rowsFetched) / static_cast<double>(std::max<std::int64_t>(1, all.rowsTrained)) },
        { "seconds", seconds } };
}

/// Every worker reads for itself, in one of two ways.
Result<json> eachForItself(
    const DataSource& source, const RunConfig& config, std::int64_t rows, bool byRank, const Tokenizer& tokenizer)
{
    const Stopwatch clock;
    std::vector<std::future<Result<Share>>> running;
    for (int w = 0; w < kWorkers; ++w)
        running.push_back(std::async(std::launch::async, [&, w] {
            if (byRank)
                return readRows(source, config, 0, rows, [w](std::int64_t i) { return i % kWorkers == w; }, tokenizer);
            return readRows(
                source, config, rows * w / kWorkers, rows * (w + 1) / kWorkers, [](std::int64_t) { return true; },
                tokenizer); // skip, then take
        }));
    std::vector<Share> shares;
    for (auto& worker : running) {
        FURROW_TRY_ASSIGN(auto share, worker.get());
        shares.push_back(share);
    }
    return shareJson(byRank ? "each worker reads, filter by rank" : "each worker reads, own range by skip then take",
        shares, clock.seconds());
}

/// One reader prepares, the workers read prepared chunks.
Result<json> oneReader(BenchData& data)
{
    const Stopwatch clock;
    Share all;
    for (const auto& block : data.blocks) {
        FURROW_TRY_ASSIGN(auto file, data.manager.prepare(block));
        all.bytesFetched += file.sourceBytes;
        for (const auto& chunk : file.chunks) {
            all.rowsFetched += chunk.rows;
            all.rowsTrained += chunk.samples;
        }
    }
    return shareJson("one reader for all", { all }, clock.seconds());
}

/// Median milliseconds of `once`.
Result<double> median(const std::function<Status(int)>& once)
{
    std::vector<double> times;
    for (int i = 0; i < kWarmUps + kMeasured; ++i) {
        const Stopwatch clock;
        FURROW_TRY(once(i));
        if (i >= kWarmUps)
            times.push_back(1e3 * clock.seconds());
    }
    return quantile(times, 0.5);
}

/// One window of `seqLen` tokens out of prepared chunks.
Status fromPrepared(const std::vector<std::filesystem::path>& files, int turn, std::int64_t seqLen,
    std::vector<std::int64_t>& inputs, std::vector<std::int64_t>& labels)
{
    std::int64_t have = 0;
    for (std::size_t f = static_cast<std::size_t>(turn); have < seqLen; ++f) {
        FURROW_TRY_ASSIGN(auto block, PreparedBlock::open(files[f % files.size()]));
        for (int column = 0; column < block.chunkCount() && have < seqLen; ++column) {
            FURROW_TRY_ASSIGN(auto chunk, block.readChunk(column));
            const ChunkWindows windows(chunk, 0, { seqLen }, {});
            windows.fill(0, 1, inputs.data(), labels.data());
            have += static_cast<std::int64_t>(chunk.tokens.size());
        }
    }
    return {};
}

/// The same out of the source: rows are read, tokenised and packed.
Status fromSource(const DataSource& source, const RunConfig& config, std::int64_t seqLen, const Tokenizer& tokenizer,
    std::vector<std::int64_t>& inputs)
{
    DirectAccess access;
    FURROW_TRY_ASSIGN(auto reader, openRowReader(access, source.files.front(), rowOptions(config, source), 0));
    std::vector<TokenId> tokens;
    Row row;
    while (static_cast<std::int64_t>(tokens.size()) < seqLen) {
        FURROW_TRY_ASSIGN(auto more, reader->next(row));
        if (!more)
            break;
        FURROW_TRY(tokenizer.encode(row.text, tokens));
        tokens.push_back(tokenizer.endOfText());
    }
    std::copy_n(tokens.begin(), std::min<std::size_t>(tokens.size(), static_cast<std::size_t>(seqLen)), inputs.begin());
    return {};
}

} // namespace

Result<json> benchReaders(const DataBenchOptions& options)
{
    FURROW_TRY_ASSIGN(auto scratch, ScratchFolder::make(options.folder));
    const auto file = scratch / "text.jsonl";
    FURROW_TRY(writeFileDurably(realFileSystem(), file, asJsonLines(benchTexts(options.samples, 1))));
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer("gpt2"));
    auto config = benchConfig(utf8Text(file));
    config.chunkSamples = kChunkSamples;
    auto data = openBenchData(config, scratch / "cache", 10'000, tokenizer);
    auto inspection = inspectData(config);
    if (!data.ok() || !inspection.ok())
        return data.ok() ? inspection.error() : data.error();
    FURROW_TRY_ASSIGN(auto manifest, readManifest(inspection.value().manifest));
    const auto& source = manifest.sources.front();
    json ways = json::array();
    for (const bool byRank : { false, true }) {
        FURROW_TRY_ASSIGN(auto row, eachForItself(source, config, options.samples, byRank, *tokenizer));
        ways.push_back(std::move(row));
    }
    FURROW_TRY_ASSIGN(auto one, oneReader(data.value()));
    ways.push_back(std::move(one));

    std::vector<std::filesystem::path> files;
    for (const auto& block : data.value().blocks)
        files.push_back(BlockManager::blockFolder(scratch / "cache") / data.value().manager.fileName(block));
    json latency = json::array();
    for (std::int64_t seqLen = 1024; seqLen <= 256 * 1024; seqLen *= 4) {
        std::vector<std::int64_t> inputs(static_cast<std::size_t>(seqLen)), labels(static_cast<std::size_t>(seqLen));
        auto prepared = median([&](int turn) { return fromPrepared(files, turn, seqLen, inputs, labels); });
        auto self = median([&](int) { return fromSource(source, config, seqLen, *tokenizer, inputs); });
        if (!prepared.ok() || !self.ok())
            return prepared.ok() ? self.error() : prepared.error();
        const double tokenMB = 2e-6 * static_cast<double>(seqLen);
        latency.push_back({ { "seq_len", seqLen }, { "one_reader_ms", prepared.value() },
            { "one_reader_mb_per_s", 1e3 * tokenMB / prepared.value() }, { "each_prepares_ms", self.value() },
            { "each_prepares_mb_per_s", 1e3 * tokenMB / self.value() } });
    }
    return json { { "samples", options.samples }, { "sharing", std::move(ways) }, { "latency", std::move(latency) } };
}

} // namespace furrow
