#pragma once

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/process.h"
#include "core/data/block_manager.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/start/life_cycle.h"
#include "core/trials/storm/counting_check.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/train/loop/trainer.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>

#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

namespace furrow::test {

template <typename T> T must(Result<T> result)
{
    if (!result.ok())
        throw std::runtime_error(result.error().message);
    return std::move(result).value();
}
inline void must(const Status& status)
{
    if (!status.ok())
        throw std::runtime_error(status.error().message);
}

/// A real run in a temporary folder: made by createRun, fed at once, and advanced by a thread as the supervisor does.
class TinyRun {
public:
    static RunConfig config()
    {
        RunConfig c;
        c.layers = 1;
        c.heads = 2;
        c.width = 16;
        c.seqLen = 16;
        c.batchSize = 4;
        c.tokenizer = "byte";
        c.dataMode = DataMode::Lines;
        c.samplesPerBlock = 40;
        c.chunkSamples = 10;
        c.heldOutPercent = 5;
        c.warmupSteps = 5;
        c.evalSteps = 0;
        c.checkpointMinutes = 1000; // only when a test asks for it
        c.precision = PrecisionChoice::Float32;
        c.devices = "cpu";
        c.workers = 1;
        return c;
    }

    explicit TinyRun(const RunConfig& c = config(), int lines = 160)
        : TinyRun(c, numberedLines(lines))
    {
    }
    /// @param name  of the data file: what its ending claims
    TinyRun(RunConfig c, const std::string& text, const std::string& name = "data.txt")
        : paths_(std::filesystem::path(folder_.path().toStdString()) / "run")
    {
        const auto data = std::filesystem::path(folder_.path().toStdString()) / name;
        must(writeFileDurably(realFileSystem(), data, text));
        c.data = { data.string() };
        paths_ = must(createRun({ c, "char", paths_.folder(), {} }, {}));
        feed();
        openTracker();
    }

    static std::string numberedLines(int lines)
    {
        std::string text;
        for (int i = 0; i < lines; ++i)
            text += "line " + std::to_string(i) + " of " + std::to_string(lines)
                + (i % 3 ? " goes up the hill\n" : " comes down\n");
        return text;
    }

    /// Opens the ledger, begins an attempt and advances epochs.
    void openTracker()
    {
        supervisor_ = std::make_unique<SupervisorLedger>(must(SupervisorLedger::open(paths_.tracker())));
        beginAttempt();
        thread_ = std::jthread([this](std::stop_token stop) {
            auto ledger = must(SupervisorLedger::open(paths_.tracker()));
            while (!stop.stop_requested()) {
                must(ledger.advance());
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
        });
    }
    /// Nobody has the tracker open afterwards, everything is in its one file. Returns how many chunks are committed.
    std::int64_t closeTracker()
    {
        thread_ = {};
        must(supervisor_->emptyWal());
        std::int64_t committed = 0;
        for (const auto& epoch : audited().epochs)
            committed += epoch.committed;
        supervisor_.reset();
        return committed;
    }

    void beginAttempt() { attempt_ = must(supervisor_->beginAttempt(thisProcess(), "{}")).value; }

    const RunPaths& paths() const { return paths_; }
    std::int64_t attempt() const { return attempt_; }
    SupervisorLedger& supervisor() { return *supervisor_; }
    LedgerReader reader() const { return must(LedgerReader::open(paths_.tracker())); }
    int chunks() const { return static_cast<int>(windows_.size()); }
    /// Windows of each chunk by (block, column).
    const std::map<std::pair<std::int64_t, int>, int>& windows() const { return windows_; }

    TrainerOptions options(int worker = 0, bool counting = false) const
    {
        TrainerOptions o;
        o.runFolder = paths_.folder();
        o.worker = o.replica = worker;
        o.attempt = attempt_;
        o.counting = counting;
        return o;
    }
    /// Trains in this process until the worker ends by itself, or after `steps` looks at the stop flag.
    TrainerEnd train(int worker = 0, bool counting = false, int looks = -1)
    {
        return must(runTrainer(options(worker, counting),
            [looks, seen = std::make_shared<int>(0)] { return looks >= 0 && ++*seen > looks; }));
    }

    ChildProcess startWorker(
        int worker, std::map<std::string, std::string> environment, std::vector<std::string> more = {})
    {
        ProcessOptions process;
        process.arguments = { "--role", "trainer", paths_.folder().string(), "--worker", std::to_string(worker),
            "--attempt", std::to_string(attempt_), "--threads", "1" };
        process.arguments.insert(process.arguments.end(), more.begin(), more.end());
        process.environment = std::move(environment);
        process.outputFile = paths_.logFile(attempt_, "worker-" + std::to_string(worker));
        return must(ChildProcess::start(FURROW_WORKER, process));
    }

    /// Runs a task of furrow-worker on this run to its end.
    ProcessExit startTask(std::vector<std::string> arguments)
    {
        ProcessOptions process;
        process.arguments = { "--role", "task", paths_.folder().string() };
        process.arguments.insert(process.arguments.end(), arguments.begin(), arguments.end());
        process.outputFile = paths_.logFile(attempt_, "task");
        auto child = must(ChildProcess::start(FURROW_WORKER, process));
        return child.wait(std::chrono::seconds(120)).value_or(ProcessExit { -1, 0 });
    }

    AuditReport audited() const { return must(audit(paths_.tracker())); }
    /// The newest checkpoint of a replica, or the merge it stands on.
    SupervisorLedger::CheckpointRow head(int replica = 0)
    {
        const auto replicas = must(supervisor_->replicas());
        for (const auto& r : replicas)
            if (r.replica == replica && r.head)
                for (const auto& row : must(supervisor_->checkpoints()))
                    if (row.id == *r.head)
                        return row;
        throw std::runtime_error("replica " + std::to_string(replica) + " has no checkpoint");
    }
    std::string weightsHash(int replica = 0)
    {
        const auto manifest = must(readManifest(paths_.checkpointFolder(head(replica).record.folder)));
        for (const auto& file : manifest.files)
            if (file.name == "weights.safetensors")
                return file.sha256;
        throw std::runtime_error("no weights in the manifest");
    }

    /// The counting model's weights.
    WindowCounts counts(int replica = 0)
    {
        return must(readWindowCounts(paths_.checkpointFolder(head(replica).record.folder)));
    }
    /// "" when every window of every chunk of `epochs` epochs is in the weights exactly once, else what is not.
    std::string countingFault(int epochs = 1, int replica = 0)
    {
        const auto all = counts(replica);
        std::size_t expected = 0;
        for (int epoch = 0; epoch < epochs; ++epoch)
            for (const auto& [place, count] : windows_)
                for (int w = 0; w < count; ++w, ++expected) {
                    const auto found = all.find({ epoch, place.first, place.second, w });
                    if (found == all.end() || found->second != 1)
                        return "window " + std::to_string(w) + " of chunk " + std::to_string(place.second)
                            + " of block " + std::to_string(place.first) + " in epoch " + std::to_string(epoch)
                            + " was trained " + std::to_string(found == all.end() ? 0 : found->second) + " times";
                }
        return all.size() == expected
            ? ""
            : std::to_string(all.size()) + " windows were trained, there are " + std::to_string(expected);
    }

    /// As the feeder does when blocks are missing.
    void feedAgain()
    {
        const auto file = must(readRunFile(paths_));
        auto tokenizer = must(loadTokenizerDefinition(must(readFile(paths_.tokenizer())), file.config.tokenizer));
        auto manager = must(
            BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths_.cacheFolder(), tokenizer));
        auto ledger = must(FeederLedger::open(paths_.tracker()));
        for (const auto& known : must(ledger.wanted(100))) {
            const auto prepared = must(manager.prepare(must(BlockManager::fromPlan(known.plan))));
            must(ledger.setPrepared(known.block, prepared.fileName, prepared.digest, chunksOf(prepared, file)));
        }
    }

private:
    std::vector<PreparedChunk> chunksOf(const PreparedFile& prepared, const RunFile& file) const
    {
        const auto block
            = must(PreparedBlock::open(BlockManager::blockFolder(paths_.cacheFolder()) / prepared.fileName));
        return must(preparedChunks(block, windowRules(file.config)));
    }
    void feed()
    {
        const auto file = must(readRunFile(paths_));
        auto tokenizer = must(loadTokenizerDefinition(must(readFile(paths_.tokenizer())), file.config.tokenizer));
        auto manager = must(
            BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths_.cacheFolder(), tokenizer));
        auto ledger = must(FeederLedger::open(paths_.tracker()));
        std::int64_t blocks = 0;
        while (auto planned = must(manager.planNext())) {
            NewBlock block { planned->block, planned->source, planned->firstRow, planned->chunkRows, planned->plan };
            must(ledger.addBlocks({ &block, 1 }));
            const auto prepared = must(manager.prepare(*planned));
            const auto chunks = chunksOf(prepared, file);
            for (std::size_t column = 0; column < chunks.size(); ++column)
                windows_[{ planned->block, static_cast<int>(column) }] = chunks[column].windows;
            must(ledger.setPrepared(planned->block, prepared.fileName, prepared.digest, chunks));
            ++blocks;
        }
        must(ledger.setLastBlockProven(blocks));
    }

    QTemporaryDir folder_;
    RunPaths paths_;
    std::int64_t attempt_ = 0;
    std::map<std::pair<std::int64_t, int>, int> windows_;
    std::unique_ptr<SupervisorLedger> supervisor_;
    std::jthread thread_;
};

/// "" when the audit is clean and every epoch is complete.
inline std::string auditFault(const TinyRun& run, int epochs = 1)
{
    const auto report = run.audited();
    if (!report.isClean())
        return auditText(report);
    if (static_cast<int>(report.epochs.size()) < epochs)
        return "only " + std::to_string(report.epochs.size()) + " epochs";
    for (int e = 0; e < epochs; ++e)
        if (!report.epochs[static_cast<std::size_t>(e)].complete)
            return auditText(report);
    return {};
}

} // namespace furrow::test

#define NO_FAULT(text)                          \
    do {                                        \
        const std::string fault = (text);       \
        QVERIFY2(fault.empty(), fault.c_str()); \
    } while (false)
