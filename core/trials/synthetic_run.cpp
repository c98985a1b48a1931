#include "core/trials/synthetic_run.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/format.h"
#include "core/base/process.h"
#include "core/base/resources.h"
#include "core/base/sentence.h"
#include "core/config/schema.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_file.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/feeder_meters.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"
#include "core/trials/synthetic_part.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

namespace furrow {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kLeaseSeconds = 600;
constexpr std::int64_t kMostChunks = 3000; // each is some writes to the tracker
constexpr std::int64_t kCheckpoints = 20; // of each worker
constexpr std::int64_t kBatch = 4;
constexpr double kStepSeconds = 0.02;

/// The time of the story. Moved by hand; one thread.
class StoryClock : public Clock {
public:
    std::int64_t monotonicNs() const override { return wallNs_ - beganNs_ + kSyntheticBootNs; }
    std::int64_t wallNs() const override { return wallNs_; }
    void begin(std::int64_t wallNs) { beganNs_ = wallNs_ = wallNs; }
    void set(std::int64_t wallNs) { wallNs_ = wallNs; }

private:
    std::int64_t beganNs_ = 0;
    std::int64_t wallNs_ = 0;
};

/// What a replica has trained of its own.
struct Trained {
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    std::int64_t samples = 0;
};

/// One replica through all attempts.
struct Replica {
    Trained now;
    Trained saved; ///< with its newest checkpoint
    std::string folder; ///< of it; "": none
    CheckpointId checkpoint;
    std::int64_t checkpoints = 0;
};

/// A process of one attempt.
struct Lane {
    std::int32_t worker;
    WorkerLedger ledger;
    IncarnationId incarnation;
    std::unique_ptr<std::ofstream> out;
    std::unique_ptr<SyntheticWriter> writer;
    std::int64_t stepsBefore = 0; ///< of its replica when it began: the ledger counts those of each process
    std::vector<Part> parts {}; ///< that no checkpoint has
};

std::string tinyWeights()
{
    const std::string header = R"({"invented":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
    std::string file(8, '\0'); // the length of the header, little-endian
    file[0] = static_cast<char>(header.size());
    return file + header + "invented";
}

std::string stateText(const CheckpointManifest& of, const Trained& own)
{
    return nlohmann::json {
        { "format", kStateFormat }, { "replica", of.replica }, { "own_steps", of.step }, { "step", of.step },
        { "tokens", of.tokens }, { "samples", own.samples }, { "steps_since_base", of.step },
        { "tokens_since_base", of.tokens }, { "base", "" }, { "merge_round", 0 }, { "parents", of.parents }
    }.dump();
}

class Story {
public:
    Story(RunPaths paths, RunFile file, LedgerReader reader, const SyntheticRun& run)
        : paths_(std::move(paths))
        , file_(std::move(file))
        , reader_(std::move(reader))
        , run_(run)
        , replicas_(static_cast<std::size_t>(run.workers))
    {
        run_.stepSeconds = kStepSeconds;
    }

    Result<SyntheticTotals> write()
    {
        clock_.begin(file_.createdWallNs);
        FURROW_TRY(feed());
        for (int attempt = 1; attempt <= run_.attempts; ++attempt)
            FURROW_TRY(liveThrough(attempt));
        return totals_;
    }

private:
    Status feed()
    {
        FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer(utf8Text(paths_.tokenizer())));
        FURROW_TRY_ASSIGN(auto blocks,
            BlockManager::open(
                file_.config, file_.dataManifest, file_.samplesPerBlock, paths_.cacheFolder(), tokenizer));
        FURROW_TRY_ASSIGN(auto ledger, FeederLedger::open(paths_.tracker(), clock_));
        std::int64_t count = 0;
        for (;;) {
            FURROW_TRY_ASSIGN(const auto planned, blocks.planNext());
            if (!planned)
                break;
            const NewBlock block { planned->block, planned->source, planned->firstRow, planned->chunkRows,
                planned->plan, {} };
            FURROW_TRY(ledger.addBlocks({ &block, 1 }));
            FURROW_TRY_ASSIGN(const auto made, blocks.prepare(*planned));
            FURROW_TRY(ledger.setPrepared(
                planned->block, made.fileName, made.digest, preparedChunks(made.chunks, file_.config.seqLen)));
            ++count;
        }
        FURROW_TRY(ledger.setLastBlockProven(count));
        FURROW_TRY_ASSIGN(auto supervisor, SupervisorLedger::open(paths_.tracker(), clock_));
        const ChunkId left = chunkIdOf({ 0, count / 2, 1 });
        return supervisor.exclude({ &left, 1 }, sentence("left out by hand"));
    }

    Status liveThrough(int number)
    {
        FURROW_TRY_ASSIGN(auto supervisor, SupervisorLedger::open(paths_.tracker(), clock_));
        ProcessIdentity self = thisProcess();
        self.place = "synthetic-boot-" + std::to_string(number); // of a boot that is over
        FURROW_TRY_ASSIGN(const AttemptId attempt, supervisor.beginAttempt(self, "{}"));
        FURROW_TRY_ASSIGN(auto lanes, startLanes(attempt));
        const std::int64_t goal = run_.steps * number / run_.attempts;
        bool isAnyLeft = true;
        while (isAnyLeft && stepsDone() < goal) {
            Lane& lane = *std::min_element(lanes.begin(), lanes.end(),
                [](const Lane& a, const Lane& b) { return a.writer->wallNs() < b.writer->wallNs(); });
            clock_.set(lane.writer->wallNs());
            FURROW_TRY(supervisor.heartbeat(self));
            FURROW_TRY_ASSIGN(isAnyLeft, trainChunk(lane));
            FURROW_TRY(supervisor.advance());
        }
        return number < run_.attempts ? crash(supervisor, lanes) : stop(supervisor, lanes, attempt);
    }

    Result<std::vector<Lane>> startLanes(AttemptId attempt)
    {
        std::vector<Lane> lanes;
        for (std::int32_t worker = 0; worker < run_.workers; ++worker) {
            FURROW_TRY_ASSIGN(auto ledger, WorkerLedger::open(paths_.tracker(), file_.runId, clock_));
            FURROW_TRY_ASSIGN(
                const auto incarnation, ledger.start({ attempt, worker, worker, "cpu", "CPU" }, kLeaseSeconds));
            auto out = std::make_unique<std::ofstream>(
                paths_.telemetryFile(attempt.value, worker), std::ios::binary | std::ios::trunc);
            const SyntheticPart part { file_.runId, attempt.value, worker,
                std::max<std::int64_t>(1, run_.steps / run_.workers), clock_.wallNs() };
            auto writer = std::make_unique<SyntheticWriter>(run_, part, *out, totals_);
            writer->begin();
            lanes.push_back({ worker, std::move(ledger), incarnation.value_or(IncarnationId {}), std::move(out),
                std::move(writer), replicas_[static_cast<std::size_t>(worker)].now.step });
        }
        return lanes;
    }

    /// Nothing: no chunk is left.
    Result<std::optional<Claim>> beginChunk(Lane& lane)
    {
        FURROW_TRY_ASSIGN(const auto answer, lane.ledger.claim());
        const auto* claim = std::get_if<Claim>(&answer);
        if (claim == nullptr)
            return std::optional<Claim>();
        FURROW_TRY(lane.ledger.begin(*claim));
        return std::optional(*claim);
    }

    /// @return whether there was one
    Result<bool> trainChunk(Lane& lane)
    {
        FURROW_TRY_ASSIGN(const auto claim, beginChunk(lane));
        if (!claim)
            return false;
        FURROW_TRY_ASSIGN(const ChunkOutcome outcome, stepThrough(lane, *claim, 1));
        clock_.set(lane.writer->wallNs());
        FURROW_TRY(lane.ledger.finish(*claim, outcome));
        for (const WindowRange& range : outcome.done)
            lane.parts.push_back({ claim->chunk, range });
        Replica& replica = replicas_[static_cast<std::size_t>(lane.worker)];
        FURROW_TRY(
            lane.ledger.renew({ .phase = WorkerPhase::Train,
                                  .chunk = {},
                                  .chunkFraction = 0,
                                  .step = replica.now.step,
                                  .tokens = replica.now.tokens,
                                  .loss = outcome.lossSum / static_cast<double>(outcome.tokens),
                                  .tokensPerSecond = kBatch * static_cast<double>(file_.config.seqLen) / kStepSeconds },
                kLeaseSeconds));
        const auto every = std::max<std::int64_t>(1, run_.steps / run_.workers / kCheckpoints);
        if (replica.now.step - replica.saved.step >= every)
            FURROW_TRY(save(lane));
        return true;
    }

    /// @param share  of the chunk, after which the machine goes off
    Result<ChunkOutcome> stepThrough(Lane& lane, const Claim& claim, double share)
    {
        FURROW_TRY_ASSIGN(const ChunkCell cell, reader_.cell(claim.chunk));
        Trained& now = replicas_[static_cast<std::size_t>(lane.worker)].now;
        const std::int64_t steps = std::max((claim.windows + kBatch - 1) / kBatch, run_.steps / kMostChunks);
        const Trained before = now;
        ChunkOutcome outcome;
        outcome.done = claim.remaining;
        outcome.tokens = cell.tokens;
        outcome.firstStep = before.step + 1 - lane.stepsBefore;
        outcome.lastStep = before.step + steps - lane.stepsBefore;
        double losses = 0;
        std::int64_t counted = 0;
        for (std::int64_t i = 1; static_cast<double>(i) <= share * static_cast<double>(steps); ++i) {
            const std::int64_t tokens = before.tokens + cell.tokens * i / steps;
            const SyntheticStep step { ++now.step, claim.block, claim.chunk.value,
                before.samples + cell.samples * i / steps, tokens, tokens - now.tokens };
            now.tokens = tokens;
            now.samples = step.samples;
            const double loss = lane.writer->step(step, 0);
            if (!std::isfinite(loss))
                continue;
            losses += loss;
            ++counted;
        }
        outcome.lossSum
            = losses / static_cast<double>(std::max<std::int64_t>(1, counted)) * static_cast<double>(outcome.tokens);
        outcome.peakGradientNorm = 1.5;
        return outcome;
    }

    Status save(Lane& lane)
    {
        Replica& replica = replicas_[static_cast<std::size_t>(lane.worker)];
        CheckpointManifest manifest;
        manifest.runId = file_.runId;
        manifest.replica = lane.worker;
        manifest.step = replica.now.step;
        manifest.tokens = replica.now.tokens;
        manifest.parts = std::exchange(lane.parts, {});
        manifest.incarnation = lane.incarnation.value;
        manifest.writtenWallNs = clock_.wallNs();
        manifest.evalLoss = lane.writer->evaluationLoss(manifest.step);
        if (!replica.folder.empty())
            manifest.parents = { replica.folder };
        CheckpointRecord record;
        record.replica = lane.worker;
        record.folder = "r" + std::to_string(lane.worker) + "-" + std::to_string(manifest.step) + "-"
            + formatHex(mixSeed({ run_.seed, static_cast<std::uint64_t>(lane.worker),
                            static_cast<std::uint64_t>(manifest.step) }))
                  .substr(0, 12);
        record.step = manifest.step;
        record.tokens = manifest.tokens;
        record.evalLoss = manifest.evalLoss;
        record.parents = { replica.folder.empty() ? kStartWeights : replica.checkpoint };
        FURROW_TRY(writeFiles(manifest, replica.now, record));
        FURROW_TRY_ASSIGN(replica.checkpoint, lane.ledger.commit(record, manifest.parts));
        replica.folder = record.folder;
        replica.saved = replica.now;
        lane.writer->checkpoint(++replica.checkpoints);
        lane.writer->evaluation({ .step = manifest.step, .tokens = manifest.tokens });
        return publishEvaluation(
            paths_, { lane.worker, false, manifest.step, *manifest.evalLoss, clock_.wallNs() }, realFileSystem());
    }

    Status writeFiles(CheckpointManifest& manifest, const Trained& own, CheckpointRecord& record)
    {
        const auto folder = paths_.checkpointFolder(record.folder);
        FURROW_TRY(realFileSystem().createFolders(folder));
        const std::pair<const char*, std::string> files[] = { { kWeightsFile, tinyWeights() },
            { "optimizer.safetensors", tinyWeights() }, { kStateFile, stateText(manifest, own) } };
        for (const auto& [name, bytes] : files) {
            FURROW_TRY(writeFileWhole(realFileSystem(), folder / name, bytes));
            manifest.files.push_back({ name, bytes.size(), sha256Hex(bytes) });
            record.sizeBytes += bytes.size();
        }
        const std::string text = toJsonText(manifest);
        record.manifestSha256 = sha256Hex(text);
        record.sizeBytes += text.size();
        return writeFileWhole(realFileSystem(), folder / kManifestFile, text);
    }

    /// The machine goes off: nobody writes anything down.
    Status crash(SupervisorLedger& supervisor, std::vector<Lane>& lanes)
    {
        std::int64_t last = clock_.wallNs();
        for (Lane& lane : lanes) {
            clock_.set(lane.writer->wallNs());
            FURROW_TRY_ASSIGN(const auto claim, beginChunk(lane));
            if (claim)
                FURROW_TRY(stepThrough(lane, *claim, 0.6));
            last = std::max(last, lane.writer->wallNs());
            FURROW_TRY(close(lane));
        }
        clock_.begin(last + kSyntheticPauseNs);
        for (const Lane& lane : lanes)
            FURROW_TRY(supervisor.revoke(lane.incarnation, sentence("the machine was restarted"), last));
        for (Replica& replica : replicas_)
            replica.now = replica.saved;
        return {};
    }

    Status stop(SupervisorLedger& supervisor, std::vector<Lane>& lanes, AttemptId attempt)
    {
        for (Lane& lane : lanes)
            clock_.set(std::max(clock_.wallNs(), lane.writer->wallNs()));
        for (Lane& lane : lanes) {
            lane.writer->waitUntil(clock_.wallNs());
            if (!lane.parts.empty())
                FURROW_TRY(save(lane));
            FURROW_TRY(lane.ledger.end(sentence("a person stopped the run")));
            lane.writer->end("a person stopped the run");
            FURROW_TRY(close(lane));
        }
        FURROW_TRY(supervisor.advance());
        return supervisor.endAttempt(
            attempt, StopReason::User, sentence("invented by furrow --synthetic: no model was trained"));
    }

    Status close(Lane& lane)
    {
        lane.writer->drain();
        if (!lane.out->flush())
            return Error { ErrorCode::Io,
                sentence("%1 cannot be written: check space and permissions", { utf8Text(paths_.telemetryFolder()) }) };
        return {};
    }

    std::int64_t stepsDone() const
    {
        std::int64_t sum = 0;
        for (const Replica& replica : replicas_)
            sum += replica.now.step;
        return sum;
    }

    RunPaths paths_;
    RunFile file_;
    LedgerReader reader_;
    SyntheticRun run_;
    StoryClock clock_;
    std::vector<Replica> replicas_;
    SyntheticTotals totals_;
};

} // namespace

Result<SyntheticTotals> writeSyntheticRun(const std::filesystem::path& folder, const SyntheticRun& run)
{
    FURROW_TRY(checkSynthetic(run));
    FURROW_TRY_ASSIGN(const auto preset, findPreset("char"));
    FURROW_TRY_ASSIGN(const auto text, resourcePath("sample/tinyshakespeare.txt"));
    NewRun request;
    request.preset = preset.name;
    request.config = preset.config;
    request.config.name = "synthetic-" + std::to_string(run.seed);
    request.config.data = { utf8Text(text) };
    request.config.seqLen = 32;
    request.config.batchSize = kBatch;
    request.config.samplesPerBlock = 200;
    request.config.chunkSamples = 10;
    request.config.workers = run.workers;
    request.config.devices = "cpu";
    request.config.merge = MergeMethod::None;
    request.config.iterate = true;
    request.folder = folder;
    const double perWorker = static_cast<double>(run.steps) / run.workers * kSlowWorker;
    request.createdWallNs = systemClock().wallNs() - run.attempts * kSyntheticPauseNs
        - static_cast<std::int64_t>(perWorker * kStepSeconds * kSecond);
    FURROW_TRY_ASSIGN(const auto paths, createRun(request, {}));
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    return Story(paths, std::move(file), std::move(reader), run).write();
}

} // namespace furrow
