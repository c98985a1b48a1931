// Each function measures one row of the table and returns it as JSON.

#include "core/trials/bench/data_bench.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/trials/bench/bench_tools.h"
#include "core/trials/bench/loop_hub.h"
#include "core/data/source/block_cache.h"
#include "core/data/block/chunk_windows.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <thread>

namespace furrow {

namespace {

using nlohmann::json;

constexpr int kHubFiles = 8;
constexpr std::int64_t kSeqLen = 1024;
constexpr int kBatch = 8;

std::map<std::string, std::string> hubFiles(const std::vector<std::string>& texts)
{
    std::map<std::string, std::string> files;
    const std::size_t each = (texts.size() + kHubFiles - 1) / kHubFiles;
    for (std::size_t f = 0; f * each < texts.size(); ++f) {
        const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(f * each);
        const auto end = texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), (f + 1) * each));
        files["train-" + std::to_string(f) + ".jsonl"] = asJsonLines({ begin, end });
    }
    return files;
}

/// Blocks as the feeder publishes them and workers take them, one chunk each time.
class PublishedChunks {
public:
    struct Place {
        std::filesystem::path file;
        int column = 0;
    };
    void publish(const std::filesystem::path& file, int chunks)
    {
        const std::lock_guard guard(mutex_);
        for (int column = 0; column < chunks; ++column)
            free_.push_back({ file, column });
    }
    void end() { ended_ = true; }
    std::optional<Place> claim()
    {
        for (;;) {
            const bool last = ended_;
            {
                const std::lock_guard guard(mutex_);
                if (!free_.empty()) {
                    auto place = free_.front();
                    free_.pop_front();
                    return place;
                }
            }
            if (last)
                return std::nullopt;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

private:
    std::mutex mutex_;
    std::deque<Place> free_;
    std::atomic<bool> ended_ { false };
};

/// Reads and packs one chunk; calls `gotBatch` after each batch. @return samples, or an error
Result<std::int64_t> consume(const PublishedChunks::Place& place, const std::function<void()>& gotBatch)
{
    FURROW_TRY_ASSIGN(auto block, PreparedBlock::open(place.file));
    FURROW_TRY_ASSIGN(auto chunk, block.readChunk(place.column));
    const ChunkWindows windows(chunk, 0, { kSeqLen }, {});
    std::vector<std::int64_t> inputs(kBatch * kSeqLen), labels(kBatch * kSeqLen);
    for (int w = 0; w < windows.count(); w += kBatch) {
        windows.fill(w, std::min(kBatch, windows.count() - w), inputs.data(), labels.data());
        gotBatch();
    }
    return block.summary(place.column).samples;
}

/// As long as a quick model trains a chunk: a reader that only reads takes the next chunk before a slower one has its
/// first.
constexpr std::chrono::milliseconds kFirstChunk { 200 };

struct Epoch {
    double firstBatchSeconds = 0; ///< of the slowest worker to get one
    std::int64_t samples = 0;
};

/// One feeder and `workers` workers go through the data once.
Result<Epoch> runEpoch(BenchData& data, const std::filesystem::path& cache, int workers)
{
    const Stopwatch clock;
    PublishedChunks published;
    std::vector<std::future<Result<Epoch>>> running;
    for (int w = 0; w < workers; ++w)
        running.push_back(std::async(std::launch::async, [&]() -> Result<Epoch> {
            Epoch own;
            while (const auto place = published.claim()) {
                auto samples = consume(*place, [&] {
                    if (own.firstBatchSeconds > 0)
                        return;
                    own.firstBatchSeconds = clock.seconds();
                    std::this_thread::sleep_for(kFirstChunk);
                });
                if (!samples.ok())
                    return samples.error();
                own.samples += samples.value();
            }
            return own;
        }));
    Status failed;
    for (const auto& block : data.blocks) {
        auto file = data.manager.prepare(block);
        if (!file.ok()) {
            failed = file.error();
            break;
        }
        published.publish(
            BlockManager::blockFolder(cache) / file.value().fileName, static_cast<int>(file.value().chunks.size()));
    }
    published.end();
    Epoch all;
    for (auto& worker : running) {
        FURROW_TRY_ASSIGN(auto own, worker.get());
        all.firstBatchSeconds = std::max(all.firstBatchSeconds, own.firstBatchSeconds);
        all.samples += own.samples;
    }
    if (!failed.ok())
        return failed.error();
    return all;
}

/// Bytes asked of the hub by one feeder and 1..8 workers, and by one that is started again ten times. `looking_bytes`
/// is what making a run reads before (heads of files): a few MB, whatever the size of the data.
Result<json> download(
    const ScratchFolder& scratch, const std::vector<std::string>& texts, const std::vector<int>& workers)
{
    json rows = json::array();
    const auto row = [&](int count, int attempts) -> Status {
        LoopHub hub(hubFiles(texts));
        const UseLoopHub use(hub);
        const auto cache = scratch / ("hub-" + std::to_string(count) + "-" + std::to_string(attempts)).c_str();
        auto config = benchConfig("hf://bench/data");
        config.chunkSamples = 250; // the first block has a chunk for each worker
        FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
        const auto lookedAt = hub.servedBytes();
        std::int64_t samples = 0;
        double firstBatch = 0;
        for (int attempt = 0; attempt < attempts; ++attempt) {
            FURROW_TRY_ASSIGN(auto data, openBenchData(config, cache, 4000, byteTokenizer(), inspection.manifest));
            FURROW_TRY_ASSIGN(auto epoch, runEpoch(data, cache, count));
            samples = epoch.samples;
            firstBatch = epoch.firstBatchSeconds;
        }
        rows.push_back({ { "workers", count }, { "attempts", attempts },
            { "downloaded_bytes", hub.servedBytes() - lookedAt }, { "looking_bytes", lookedAt },
            { "dataset_bytes", hub.datasetBytes() },
            { "ratio", static_cast<double>(hub.servedBytes() - lookedAt) / static_cast<double>(hub.datasetBytes()) },
            { "samples", samples }, { "first_batch_s", firstBatch } });
        return {};
    };
    for (const int count : workers)
        FURROW_TRY(row(count, 1));
    FURROW_TRY(row(2, 11)); // ten resumes
    return rows;
}

/// Text of Parquet (zstd) to prepared blocks with the GPT-2 tokenizer; MB/s of text.
Result<json> prepare(const ScratchFolder& scratch, const std::vector<std::string>& texts)
{
    const auto path = scratch / "text.parquet";
    if (auto status = writeBenchParquet(path, texts); !status.ok())
        return json { { "skipped", status.error().message } };
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer("gpt2"));
    FURROW_TRY_ASSIGN(auto data, openBenchData(benchConfig(utf8Text(path)), scratch / "prepare", 10'000, tokenizer));
    const Stopwatch clock;
    std::uint64_t bytes = 0;
    for (const auto& block : data.blocks) {
        FURROW_TRY_ASSIGN(auto file, data.manager.prepare(block));
        bytes += file.sourceBytes;
    }
    return json { { "text_bytes", bytes }, { "seconds", clock.seconds() },
        { "mb_per_s", static_cast<double>(bytes) / 1e6 / clock.seconds() } };
}

/// Prepared chunks to batches on one thread with the next chunk read ahead on another, as a worker does.
Result<json> batches(const ScratchFolder& scratch, const std::string& source)
{
    const auto cache = scratch / "batches";
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer("gpt2"));
    FURROW_TRY_ASSIGN(auto data, openBenchData(benchConfig(source), cache, 10'000, tokenizer));
    std::vector<PublishedChunks::Place> places;
    for (const auto& block : data.blocks) {
        FURROW_TRY_ASSIGN(auto file, data.manager.prepare(block));
        for (std::size_t c = 0; c < file.chunks.size(); ++c)
            places.push_back({ BlockManager::blockFolder(cache) / file.fileName, static_cast<int>(c) });
    }
    const auto load = [](const PublishedChunks::Place& place) -> Result<ChunkText> {
        auto block = PreparedBlock::open(place.file);
        return block.ok() ? block.value().readChunk(place.column) : Result<ChunkText>(block.error());
    };
    std::vector<std::int64_t> inputs(kBatch * kSeqLen), labels(kBatch * kSeqLen);
    std::vector<double> waits;
    std::int64_t samples = 0, tokens = 0;
    const Stopwatch clock;
    for (int round = 0; round < 3; ++round) {
        auto next = std::async(std::launch::async, load, places.front());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Stopwatch waiting;
            FURROW_TRY_ASSIGN(auto chunk, next.get());
            if (round > 0 || i > 0)
                waits.push_back(1e3 * waiting.seconds());
            if (i + 1 < places.size())
                next = std::async(std::launch::async, load, places[i + 1]);
            const ChunkWindows windows(chunk, tokenizer->endOfText(), { kSeqLen }, {});
            for (int w = 0; w < windows.count(); w += kBatch)
                windows.fill(w, std::min(kBatch, windows.count() - w), inputs.data(), labels.data());
            samples += chunk.count();
            tokens += static_cast<std::int64_t>(chunk.tokens.size());
        }
    }
    const double seconds = clock.seconds();
    return json { { "samples_per_s", static_cast<double>(samples) / seconds },
        { "tokens_per_s", static_cast<double>(tokens) / seconds },
        { "token_gb_per_s", 2e-9 * static_cast<double>(tokens) / seconds },
        { "batch_gb_per_s", 16e-9 * static_cast<double>(tokens) / seconds }, { "wait_ms_p50", quantile(waits, 0.5) },
        { "wait_ms_p99", quantile(waits, 0.99) } };
}

/// From opening the manager of a run to the first batch of a block in the middle, everything prepared before.
Result<json> resume(const ScratchFolder& scratch, const std::string& source)
{
    const auto cache = scratch / "batches"; // prepared by batches()
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer("gpt2"));
    FURROW_TRY_ASSIGN(auto data, openBenchData(benchConfig(source), cache, 10'000, tokenizer));
    FURROW_TRY_ASSIGN(auto inspection, inspectData(benchConfig(source)));
    json rows = json::array();
    for (const int percent : { 1, 50, 99 }) {
        const auto& blocks = data.blocks;
        const auto& block
            = blocks[std::min(blocks.size() - 1, blocks.size() * static_cast<std::size_t>(percent) / 100)];
        const Stopwatch clock;
        FURROW_TRY_ASSIGN(
            auto manager, BlockManager::open(benchConfig(source), inspection.manifest, 10'000, cache, tokenizer));
        FURROW_TRY(manager.resumeAfter(block.plan));
        const double opened = clock.seconds();
        FURROW_TRY_ASSIGN(auto file, manager.prepare(block));
        const double checked = clock.seconds();
        FURROW_TRY(consume({ BlockManager::blockFolder(cache) / file.fileName, 0 }, [] { }));
        rows.push_back({ { "percent", percent }, { "open_ms", 1e3 * opened }, { "check_ms", 1e3 * (checked - opened) },
            { "claim_to_batches_ms", 1e3 * (clock.seconds() - checked) } });
    }
    return rows;
}

/// One byte of 1 % of the blocks (at least one) is flipped: how many are found before use and equal afterwards.
Result<json> healing(const ScratchFolder& scratch, const std::string& source)
{
    const auto cache = scratch / "healing";
    FURROW_TRY_ASSIGN(auto data, openBenchData(benchConfig(source), cache, 200, byteTokenizer()));
    std::vector<PreparedFile> files;
    for (const auto& block : data.blocks) {
        FURROW_TRY_ASSIGN(auto file, data.manager.prepare(block));
        files.push_back(std::move(file));
    }
    Random random(1);
    const std::size_t damaged = std::max<std::size_t>(1, files.size() / 100);
    std::set<std::size_t> chosen;
    while (chosen.size() < damaged)
        chosen.insert(random.below(files.size()));
    for (const auto index : chosen) {
        const auto path = BlockManager::blockFolder(cache) / files[index].fileName;
        FURROW_TRY_ASSIGN(auto bytes, readFile(path));
        auto& byte = bytes[random.below(bytes.size())];
        byte = static_cast<char>(byte ^ (1 << random.below(8)));
        FURROW_TRY(writeFileDurably(realFileSystem(), path, bytes));
    }
    std::size_t found = 0, healed = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        FURROW_TRY_ASSIGN(auto again, data.manager.prepare(data.blocks[i]));
        found += again.fromCache ? 0 : 1;
        healed += again.digest == files[i].digest ? 1 : 0;
    }
    return json { { "blocks", files.size() }, { "damaged", damaged }, { "found", found },
        { "right_afterwards", healed } };
}

/// A cache of a third of what is prepared: the most that ever lay on disk.
Result<json> disk(const ScratchFolder& scratch, const std::string& source, std::uint64_t preparedBytes)
{
    auto config = benchConfig(source);
    const std::uint64_t cap = preparedBytes / 3;
    config.cacheGiB = static_cast<double>(cap) / (1ull << 30);
    const auto cache = scratch / "disk";
    FURROW_TRY_ASSIGN(auto data, openBenchData(config, cache, 1000, byteTokenizer()));
    FURROW_TRY_ASSIGN(auto looking, BlockCache::open(cache, 0));
    std::atomic<std::uint64_t> peak { 0 };
    std::jthread watch([&](std::stop_token stop) {
        while (!stop.stop_requested()) {
            peak = std::max(peak.load(), looking->usedBytes().ok() ? looking->usedBytes().value() : 0);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    });
    for (const auto& block : data.blocks) {
        FURROW_TRY(data.manager.pin({}));
        FURROW_TRY(data.manager.prepare(block));
    }
    return json { { "cap_bytes", cap }, { "prepared_bytes", preparedBytes }, { "peak_bytes", peak.load() },
        { "below_cap", peak.load() <= cap } };
}

} // namespace

Result<json> benchData(const DataBenchOptions& options)
{
    FURROW_TRY_ASSIGN(auto scratch, ScratchFolder::make(options.folder));
    const auto texts = benchTexts(options.samples, 1);
    const auto file = scratch / "text.jsonl";
    FURROW_TRY(writeFileDurably(realFileSystem(), file, asJsonLines(texts)));
    const std::string source = utf8Text(file);
    const std::uint64_t textBytes = std::accumulate(texts.begin(), texts.end(), std::uint64_t { 0 },
        [](std::uint64_t sum, const auto& text) { return sum + text.size(); });
    json table = { { "samples", options.samples }, { "text_bytes", textBytes } };
    const std::pair<const char*, std::function<Result<json>()>> rows[] = {
        { "download", [&] { return download(scratch, texts, options.workers); } },
        { "download_parquet", [&] { return benchHubBytes(scratch, static_cast<double>(options.samples) / 60'000); } },
        { "download_transfers", [&] { return benchHubTransfers(scratch, texts); } },
        { "prepare_parquet_gpt2", [&] { return prepare(scratch, texts); } },
        { "batches", [&] { return batches(scratch, source); } },
        { "resume", [&] { return resume(scratch, source); } },
        { "healing", [&] { return healing(scratch, source); } },
        { "duplicates", [&] { return benchDuplicates(scratch, options.rows); } },
        { "disk",
            [&] { return disk(scratch, source, 2 * textBytes + 25 * static_cast<std::uint64_t>(options.samples)); } },
    };
    std::string names;
    for (const auto& [name, measure] : rows)
        names += (names.empty() ? "" : ", ") + std::string(name);
    if (std::none_of(std::begin(rows), std::end(rows),
            [&options](const auto& row) { return options.only.empty() || options.only == row.first; }))
        return Error { ErrorCode::InvalidArgument,
            "The table has no row '" + options.only + "'. Its rows are " + names + "." };
    for (const auto& [name, measure] : rows) {
        if (!options.only.empty() && options.only != name)
            continue;
        auto row = measure();
        if (!row.ok())
            return row.error().in(name);
        table[name] = std::move(row).value();
    }
    return table;
}

} // namespace furrow
