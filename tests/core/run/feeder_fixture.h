#pragma once

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/data/source/block_cache.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/start/life_cycle.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <functional>
#include <map>
#include <thread>

namespace furrow::test {

/// The value; a failure ends the test program with its sentence.
template <typename T> T good(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}
inline void good(const Status& status)
{
    if (!status.ok())
        qFatal("%s", status.error().message.c_str());
}

/// A run over `rows` lines that carry their own number, a real feeder process, and a worker played by the test.
class Run {
public:
    Run(int rows, int perBlock, int perChunk, double cacheGiB, std::int64_t epochs, const std::string& source = {},
        Duplicates duplicates = Duplicates::Report, const std::string& startAt = {}, BadFiles badFiles = BadFiles::Stop,
        const std::function<void(RunConfig&)>& change = {})
    {
        std::ofstream(file("data.txt"), std::ios::binary) << lines(rows);
        NewRun request;
        request.config.data = { source.empty() ? utf8Text(file("data.txt")) : source };
        request.config.heldOutPercent = 0;
        request.config.duplicates = duplicates;
        request.config.samplesPerBlock = perBlock;
        request.config.chunkSamples = perChunk;
        request.config.cacheGiB = cacheGiB;
        request.config.epochs = epochs;
        request.config.startAt = startAt;
        request.config.badFiles = badFiles;
        request.config.shuffleWindowBlocks = 3;
        request.config.prepareAheadBlocks = 1;
        request.config.devices = "cpu";
        if (change)
            change(request.config);
        request.folder = file("run");
        request.preset = "char";
        paths = good(createRun(request, {}));
        beginAttempt();
    }

    static std::string lines(int rows, int first = 0)
    {
        std::string text;
        for (int i = first; i < first + rows; ++i)
            text += std::to_string(i) + " " + std::string(60, static_cast<char>('a' + i % 26)) + "\n";
        return text;
    }

    void beginAttempt()
    {
        auto supervisor = good(SupervisorLedger::open(paths.tracker()));
        attempt = good(supervisor.beginAttempt(thisProcess(), "{}"));
    }
    void startFeeder()
    {
        ProcessOptions options;
        options.arguments = { "feed", utf8Text(paths.folder()) };
        options.outputFile = file("feeder.log");
        auto furrowctl = executablePath().parent_path() / "furrowctl";
        furrowctl += executablePath().extension();
        feeder.emplace(good(ChildProcess::start(furrowctl, options)));
    }
    void stopFeeder()
    {
        feeder->requestStop();
        QVERIFY(feeder->wait(std::chrono::seconds(20)).has_value());
        feeder.reset();
    }
    std::filesystem::path file(const char* name) const { return pathFromUtf8(folder_.path().toStdString()) / name; }
    std::filesystem::path blocks() const { return BlockManager::blockFolder(paths.cacheFolder()); }

    RunPaths paths { "" };
    AttemptId attempt;
    std::optional<ChildProcess> feeder;

private:
    QTemporaryDir folder_;
};

/// Claims and "trains" until nothing is left, or `limit` chunks: counts which row it saw in which epoch.
class PlayedWorker {
public:
    PlayedWorker(Run& run, int worker)
        : run_(run)
        , ledger_(good(WorkerLedger::open(run.paths.tracker(), good(readRunFile(run.paths)).runId)))
        , supervisor_(good(SupervisorLedger::open(run.paths.tracker())))
        , reader_(good(LedgerReader::open(run.paths.tracker())))
        , worker_(worker)
    {
        good(ledger_.start({ run.attempt, worker, worker, "cpu", "test" }, 600));
    }

    /// @return chunks trained
    int work(std::map<std::int64_t, std::map<int, int>>& seen, int limit = 1 << 30)
    {
        QElapsedTimer clock;
        clock.start();
        int trained = 0;
        while (trained < limit && clock.elapsed() < 120'000) {
            good(supervisor_.advance());
            auto answer = good(ledger_.claim());
            if (const auto* why = std::get_if<NothingToClaim>(&answer)) {
                if (*why == NothingToClaim::EpochComplete || *why == NothingToClaim::StopRuleReached)
                    break;
                commit();
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                continue;
            }
            trained += train(std::get<Claim>(answer), seen) ? 1 : 0;
        }
        commit();
        good(supervisor_.advance());
        good(ledger_.end("done"));
        return trained;
    }
    std::int64_t failures = 0;
    int untrained = 0; ///< of so many of its next chunks no step is finite

private:
    bool train(const Claim& claim, std::map<std::int64_t, std::map<int, int>>& seen)
    {
        const auto row = good(reader_.block(claim.block));
        auto block = PreparedBlock::open(run_.blocks() / row.fileName);
        auto text = block.ok() ? block.value().readChunk(claim.column) : Result<ChunkText>(block.error());
        if (!text.ok()) {
            ++failures;
            good(ledger_.fail(claim, text.error()));
            return false;
        }
        if (untrained > 0) {
            --untrained;
            good(ledger_.begin(claim));
            ChunkOutcome outcome;
            outcome.skipped = claim.remaining;
            good(ledger_.finish(claim, outcome));
            return true;
        }
        const auto tokenizer = byteTokenizer();
        for (std::size_t i = 0; i + 1 < text.value().offsets.size(); ++i) {
            if ((text.value().flags[i] & SampleLeftOut) != 0)
                continue;
            const auto ids
                = std::span(text.value().tokens)
                      .subspan(text.value().offsets[i], text.value().offsets[i + 1] - text.value().offsets[i]);
            ++seen[claim.epoch][std::stoi(tokenizer->decode(ids))];
        }
        good(ledger_.begin(claim));
        ChunkOutcome outcome;
        outcome.done = claim.remaining;
        outcome.tokens = preparedChunks(block.value().summaries(),
            good(readRunFile(run_.paths)).config.seqLen)[static_cast<std::size_t>(claim.column)]
                             .tokens; // all of them: it is never shared
        outcome.firstStep = outcome.lastStep = ++step_;
        good(ledger_.finish(claim, outcome));
        for (const auto& range : claim.remaining)
            parts_.push_back({ claim.chunk, range });
        if (parts_.size() >= 7)
            commit();
        return true;
    }
    void commit()
    {
        if (parts_.empty())
            return;
        CheckpointRecord record;
        record.replica = worker_;
        record.folder = "w" + std::to_string(worker_) + "-" + std::to_string(++checkpoints_);
        record.manifestSha256 = "sha";
        if (head_)
            record.parents = { *head_ };
        head_ = good(ledger_.commit(record, parts_));
        parts_.clear();
    }

    Run& run_;
    WorkerLedger ledger_;
    SupervisorLedger supervisor_;
    LedgerReader reader_;
    int worker_;
    std::int64_t step_ = 0;
    int checkpoints_ = 0;
    std::optional<CheckpointId> head_;
    std::vector<Part> parts_;
};

inline void verifyEachRowOnceAnEpoch(
    const std::map<std::int64_t, std::map<int, int>>& seen, std::size_t epochs, std::size_t rows)
{
    QCOMPARE(seen.size(), epochs);
    for (const auto& [epoch, counts] : seen) {
        QCOMPARE(counts.size(), rows);
        for (const auto& [row, count] : counts)
            QVERIFY2(count == 1, qPrintable(QString("row %1 %2 times in epoch %3").arg(row).arg(count).arg(epoch)));
    }
}

} // namespace furrow::test
