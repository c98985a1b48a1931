#pragma once

#include "core/base/file_system.h"
#include "core/config/schema.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/tracker_config.h"
#include "core/run/folder/run_file.h"
#include "core/telemetry/writer.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <QCryptographicHash>
#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

namespace furrow {

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

/// A run folder in a temporary workspace, written through the same calls as the engine: run.json, tracker, telemetry, a
/// log.
class RunStory {
public:
    struct Size {
        int blocks = 4;
        int columns = 6;
        int workers = 2;
        int trained = 9; ///< chunks trained in all; the last ones are not committed
        int stepsPerChunk = 8;
        int repeats = 0; ///< of the 20 rows of each chunk, left out as duplicates
    };

    explicit RunStory(const Size& size, const QString& name = QStringLiteral("story"), const QString& workspace = {})
        : size_(size)
        , runId_(idOf(name))
        , workspace_(workspace.isEmpty() ? temporary_.path() : workspace)
        , paths_(
              std::filesystem::path((workspace_ + QStringLiteral("/runs/2026-03-13-%1-7c1e").arg(name)).toStdString()))
    {
        for (const auto& folder :
            { paths_.folder(), paths_.telemetryFolder(), paths_.logsFolder(), paths_.checkpointsFolder() })
            good(realFileSystem().createFolders(folder));
        writeConfig(name);
        writeTracker();
    }

    const RunPaths& paths() const { return paths_; }
    QString folder() const { return QString::fromStdString(paths_.folder().string()); }
    QString workspace() const { return workspace_; }
    AttemptId attempt() const { return attempt_; }

    /// One more training of the next free chunk by `worker`; `keep` commits it.
    bool trainOne(int worker, bool keep)
    {
        auto& ledger = *workers_[static_cast<std::size_t>(worker)];
        auto answer = good(ledger.claim());
        auto* claim = std::get_if<Claim>(&answer);
        if (claim == nullptr)
            return false;
        good(ledger.begin(*claim));
        writeSteps(worker, *claim);
        ChunkOutcome outcome;
        outcome.done = claim->remaining;
        outcome.tokens = 1000;
        outcome.lossSum = 1000 * lossAt(steps_[static_cast<std::size_t>(worker)]);
        outcome.peakGradientNorm = 1.5;
        outcome.firstStep = steps_[static_cast<std::size_t>(worker)] - size_.stepsPerChunk;
        outcome.lastStep = steps_[static_cast<std::size_t>(worker)];
        good(ledger.finish(*claim, outcome));
        parts_[static_cast<std::size_t>(worker)].push_back({ claim->chunk, { 0, claim->windows } });
        if (keep)
            commit(worker);
        return true;
    }

    /// `worker` begins the next free chunk and tells that it has made `steps` steps and done `fraction` of it.
    ChunkId beginOne(int worker, std::int64_t steps, double fraction)
    {
        auto& ledger = *workers_[static_cast<std::size_t>(worker)];
        auto answer = good(ledger.claim());
        const auto* claim = std::get_if<Claim>(&answer);
        if (claim == nullptr)
            qFatal("no chunk is free");
        good(ledger.begin(*claim));
        const std::int64_t step = steps_[static_cast<std::size_t>(worker)] + steps;
        good(ledger.renew({ WorkerPhase::Train, claim->chunk, fraction, step, 0, 2.0, 100 }, 60));
        return claim->chunk;
    }

    /// Of a story of two blocks with three chunks each, of which its only worker has trained none: trains all chunks of
    /// the first epoch but the last and opens the second one. @param kept  how many of them are committed
    void openSecondEpoch(int kept)
    {
        constexpr int kTrained = 5;
        auto feeder = good(FeederLedger::open(paths_.tracker()));
        PreparedChunk prepared;
        prepared.rows = { 20, 19, 0, 0, 1, 0 };
        prepared.tokens = 1000;
        prepared.windows = 10;
        good(feeder.setPrepared(1, "block1", "digest1", std::vector<PreparedChunk>(3, prepared)));
        auto ledger = supervisor();
        good(ledger.setStoppingRules({ .epochs = 2 }));
        for (int i = 0; i < kTrained; ++i)
            if (!trainOne(0, i < kept))
                qFatal("chunk %d of the first epoch cannot be claimed", i);
        while (good(good(LedgerReader::open(paths_.tracker())).epochs()).size() < 2)
            good(ledger.advance());
    }

    /// The supervisor is this process: the run looks alive.
    void makeAlive() { good(supervisor().heartbeat(thisProcess())); }
    SupervisorLedger supervisor() const { return good(SupervisorLedger::open(paths_.tracker())); }

private:
    static double lossAt(std::int64_t step) { return 1.5 + 2.5 * std::exp(-static_cast<double>(step) / 400.0); }

    void writeConfig(const QString& name)
    {
        RunFile file;
        file.runId = runId_;
        const Preset preset = good(findPreset("char"));
        file.config = preset.config;
        file.config.name = name.toStdString();
        file.config.data = { "sample.txt" };
        file.config.workers = size_.workers;
        file.preset = preset.name;
        file.createdWallNs = systemClock().wallNs();
        file.furrowVersion = FURROW_VERSION;
        file.dataIdentity = "87f0914";
        file.dataManifest = "{}";
        file.tokenizerHash = "aa";
        file.vocabularySize = 65;
        file.samplesPerBlock = file.config.samplesPerBlock;
        good(writeRunFile(paths_, file));
    }

    void writeTracker()
    {
        TrackerConfig config = orderConfig(good(readRunFile(paths_)).config);
        config.runId = runId_;
        config.windowTokens = 0; // the story counts tokens in proportion
        good(SupervisorLedger::create(paths_.tracker(), config, {}));
        attempt_ = good(supervisor().beginAttempt(thisProcess(), "{}"));
        feed();
        for (int worker = 0; worker < size_.workers; ++worker) {
            auto ledger = good(WorkerLedger::open(paths_.tracker(), config.runId));
            (void)good(ledger.start({ attempt_, worker, worker, "cpu", "CPU" }, 60));
            workers_.push_back(std::make_unique<WorkerLedger>(std::move(ledger)));
            steps_.push_back(0);
            parts_.emplace_back();
        }
        std::ofstream log(paths_.logFile(1, "worker-0"));
        log << "2026-03-13 18:42:10.123 I worker-0  Training begins\n2026-03-13 18:42:11.456 W worker-0  A step took long\n";
        log.close();
        for (int i = 0; i < size_.trained; ++i)
            trainOne(i % size_.workers, i + size_.workers * 2 < size_.trained);
        for (int worker = 0; worker < size_.workers; ++worker) {
            const auto at = static_cast<std::size_t>(worker);
            auto claim = good(workers_[at]->claim());
            WorkerLedger::Progress progress;
            progress.phase = WorkerPhase::Train;
            progress.chunk = std::holds_alternative<Claim>(claim) ? std::get<Claim>(claim).chunk : ChunkId {};
            progress.chunkFraction = 0.4;
            progress.step = steps_[at];
            progress.tokens = steps_[at] * 125;
            progress.loss = lossAt(steps_[at]);
            progress.tokensPerSecond = 8000;
            good(workers_[at]->renew(progress, 60));
        }
    }

    void feed()
    {
        auto feeder = good(FeederLedger::open(paths_.tracker()));
        std::vector<NewBlock> blocks;
        for (int block = 0; block < size_.blocks; ++block) {
            NewBlock known;
            known.block = block;
            known.firstRow = block * size_.columns * 20;
            known.chunkRows.assign(static_cast<std::size_t>(size_.columns), 20);
            known.plan = "{}";
            blocks.push_back(known);
        }
        good(feeder.addBlocks(blocks));
        for (int block = 0; block < size_.blocks; ++block) {
            PreparedChunk chunk;
            chunk.rows = { 20, 19 - size_.repeats, 0, 0, 1, size_.repeats };
            chunk.tokens = 1000;
            chunk.windows = 10;
            const std::vector<PreparedChunk> chunks(static_cast<std::size_t>(size_.columns), chunk);
            if (block + 1 < size_.blocks) // the last one is still being prepared
                good(feeder.setPrepared(
                    block, "block" + std::to_string(block), "digest" + std::to_string(block), chunks));
        }
        good(feeder.setLastBlockProven(size_.blocks));
    }

    void writeSteps(int worker, const Claim& claim)
    {
        const auto at = static_cast<std::size_t>(worker);
        std::ofstream file(paths_.telemetryFile(1, worker), std::ios::app);
        std::string lines;
        if (steps_[at] == 0)
            encodeLine(TelemetryHeader { runId_, 1, worker, bootId(), systemClock().wallNs() - 600'000'000'000,
                           systemClock().monotonicNs() - 600'000'000'000 },
                lines);
        for (int i = 0; i < size_.stepsPerChunk; ++i) {
            const std::int64_t step = ++steps_[at];
            StepRecord record;
            record.monotonicNs = systemClock().monotonicNs() - 600'000'000'000 + step * 50'000'000;
            record.step = step;
            record.block = claim.block;
            record.chunk = claim.chunk.value;
            record.samples = step * 3;
            record.tokens = step * 125;
            record.stepTokens = 125;
            record.loss = lossAt(step) + 0.15 * std::sin(static_cast<double>(step * (worker + 3)) * 1.7);
            record.lr = 1e-3 * std::min(1.0, static_cast<double>(step) / 100);
            record.gradientNorm = 1.2;
            record.tokensPerSecond = 8000 + 300 * std::sin(static_cast<double>(step));
            record.time = { 0.2, 5, 9, 1, 0 };
            encodeLine(TelemetryRecord(record), lines);
        }
        if (steps_[at] % (size_.stepsPerChunk * 5) == 0) {
            const std::int64_t ago = 600'000'000'000 - steps_[at] * 50'000'000;
            encodeLine(TelemetryRecord(EvalRecord { systemClock().monotonicNs() - ago, steps_[at], steps_[at] * 125,
                           lossAt(steps_[at]) + 0.05, steps_[at], EvalRecord::What::Replica }),
                lines);
            good(publishEvaluation(paths_,
                { worker, false, steps_[at], lossAt(steps_[at]) + 0.05, systemClock().wallNs() - ago },
                realFileSystem()));
        }
        file << lines;
    }

    void commit(int worker)
    {
        const auto at = static_cast<std::size_t>(worker);
        CheckpointRecord record;
        record.replica = worker;
        record.folder = std::to_string(worker) + "-" + std::to_string(steps_[at]);
        record.manifestSha256 = std::string(64, 'a');
        record.step = steps_[at];
        record.tokens = steps_[at] * 125;
        record.evalLoss = lossAt(steps_[at]) + 0.05;
        record.sizeBytes = 3 << 20;
        if (last_.contains(worker))
            record.parents = { last_[worker] };
        last_[worker] = good(workers_[at]->commit(record, parts_[at]));
        parts_[at].clear();
    }

    /// Runs of one id would be copies of each other.
    static std::string idOf(const QString& name)
    {
        return name == QLatin1String("story")
            ? "00112233aabbccdd"
            : QCryptographicHash::hash(name.toUtf8(), QCryptographicHash::Md5).toHex().left(16).toStdString();
    }

    Size size_;
    std::string runId_;
    QTemporaryDir temporary_;
    QString workspace_;
    RunPaths paths_;
    AttemptId attempt_;
    std::vector<std::unique_ptr<WorkerLedger>> workers_;
    std::vector<std::int64_t> steps_;
    std::vector<std::vector<Part>> parts_;
    std::map<int, CheckpointId> last_;
};

} // namespace furrow
