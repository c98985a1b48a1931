#include "core/trials/synthetic.h"

#include "core/base/random.h"
#include "core/telemetry/records.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

namespace furrow {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBootNs = 500 * kSecond; // monotonic time at which each attempt begins
constexpr double kSlow = 2.2; // the last worker's step takes so much longer
constexpr std::int64_t kPauseNs = 5820 * kSecond; // between a crash and the resume: 1 h 37 min

double gauss(Random& random)
{
    const double u = std::max(random.uniform(), 1e-12);
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// One worker over one attempt.
struct Part {
    std::int64_t attempt = 1;
    int worker = 0;
    std::int64_t firstStep = 1; ///< worker steps
    std::int64_t lastStep = 0;
    std::int64_t ownSteps = 0; ///< of this worker in the whole run
    std::int64_t wallNs = 0;
    bool crashes = false;
};

class PartWriter {
public:
    PartWriter(const SyntheticRun& run, const Part& part, std::ofstream& out, SyntheticTotals& totals)
        : run_(run)
        , part_(part)
        , out_(out)
        , totals_(totals)
        , random_(
              mixSeed({ run.seed, static_cast<std::uint64_t>(part.attempt), static_cast<std::uint64_t>(part.worker) }))
    {
        Random marks(mixSeed({ run.seed, 77, static_cast<std::uint64_t>(part.worker) }));
        const auto pick = [&](int count, std::set<std::int64_t>& into) {
            for (int i = part.worker; i < count; i += run.workers)
                into.insert(1
                    + static_cast<std::int64_t>(
                        marks.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, part.ownSteps)))));
        };
        pick(run.spikes, spikes_);
        pick(run.notANumbers, nans_);
        pick(run.infinities, infinities_);
        pick(run.duplicates, doubled_);
        lookEvery_ = std::max<std::int64_t>(1, part.ownSteps / 400);
        checkpointEvery_ = std::max<std::int64_t>(2, part.ownSteps / 40);
        stepNs_ = static_cast<std::int64_t>(
            run.stepSeconds * kSecond * (part.worker == run.workers - 1 && run.workers > 1 ? kSlow : 1.0));
    }

    void write()
    {
        TelemetryHeader header { "synthetic-" + std::to_string(run_.seed), part_.attempt, part_.worker,
            "synthetic-boot-" + std::to_string(part_.attempt), part_.wallNs, kBootNs };
        encodeLine(header, text_);
        nowNs_ = kBootNs;
        event(EventRecord::Kind::Started, part_.attempt == 1 ? "started" : "resumed from the newest checkpoint");
        for (auto step = part_.firstStep; step <= part_.lastStep; ++step)
            writeStep(step);
        if (!part_.crashes)
            event(EventRecord::Kind::Stopped, "the end of the epoch was reached");
        drain();
    }

private:
    double lossAt(std::int64_t step) const
    {
        const double p = static_cast<double>(step) / static_cast<double>(part_.ownSteps);
        const double slow = std::sin(p * 23 + part_.worker * 2.1) * 0.02 + std::sin(p * 7.3 + part_.worker) * 0.015;
        return 3.36 + 0.42 * std::exp(-3.2 * p) + 6.5 * std::exp(-160 * p) + slow + (part_.worker == 2 ? 0.03 * p : 0);
    }

    void writeStep(std::int64_t step)
    {
        const double p = static_cast<double>(step) / static_cast<double>(part_.ownSteps);
        const std::int64_t ordinal = (step - 1) / run_.stepsPerChunk * run_.workers + part_.worker;
        StepRecord r;
        const bool saves = step % checkpointEvery_ == 0;
        r.time = { 2 + 3 * random_.uniform(), static_cast<double>(stepNs_) / 1e6 * 0.31,
            static_cast<double>(stepNs_) / 1e6 * 0.6, static_cast<double>(stepNs_) / 1e6 * 0.05,
            saves ? 900 + 300 * random_.uniform() : 0 };
        const auto spent = static_cast<std::int64_t>(
            static_cast<double>(stepNs_) * (1 + 0.02 * gauss(random_)) + r.time.checkpoint * 1e6);
        nowNs_ += std::max<std::int64_t>(spent, 1000);
        r.monotonicNs = nowNs_;
        r.step = step;
        r.block = ordinal / run_.chunksPerBlock;
        r.chunk = 100'000'000'000'000 + r.block * 1'000'000 + ordinal % run_.chunksPerBlock;
        r.samples = step * (4000 / run_.stepsPerChunk);
        r.tokens = step * run_.stepTokens;
        r.stepTokens = run_.stepTokens;
        r.loss = static_cast<float>(lossAt(step) + 0.03 * gauss(random_));
        r.lr = static_cast<float>(6e-4 * std::min(1.0, p * 50) * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * p))));
        r.gradientNorm = static_cast<float>(0.6 + 0.4 * std::exp(-20 * p) + std::abs(0.1 * gauss(random_)));
        r.memoryBytes = 17'100'000'000 + static_cast<std::int64_t>(random_.below(50'000'000));
        mark(step, r);
        r.tokensPerSecond = static_cast<double>(run_.stepTokens) / (static_cast<double>(spent) / kSecond);
        record(r);
        ++totals_.stepLines;
        if (doubled_.contains(step)) {
            record(r);
            ++totals_.stepLines;
            ++totals_.duplicates;
        }
        if (step % lookEvery_ == 0)
            record(GpuRecord { nowNs_, "GPU-synthetic-" + std::to_string(part_.worker), 0.93 + 0.06 * random_.uniform(),
                r.memoryBytes, 25'757'220'864, 380 + 20 * gauss(random_), 64 + 2 * gauss(random_) });
        if (saves) {
            event(EventRecord::Kind::Checkpoint, "checkpoint " + std::to_string(step / checkpointEvery_));
            if (step / checkpointEvery_ % 2 == 0)
                record(EvalRecord {
                    nowNs_, step, r.tokens, static_cast<float>(lossAt(step) - 0.02), step, EvalRecord::What::Replica });
        }
    }

    /// Spikes last some steps inside one chunk, as bad data makes them.
    void mark(std::int64_t step, StepRecord& r)
    {
        for (const auto spike : spikes_) {
            const auto distance = std::abs(step - spike);
            if (distance > 8)
                continue;
            r.loss = static_cast<float>(r.loss + 2.6 * std::exp(-static_cast<double>(distance * distance) / 12));
            r.gradientNorm
                = static_cast<float>(r.gradientNorm + 11 * std::exp(-static_cast<double>(distance * distance) / 6));
            if (distance == 0)
                event(EventRecord::Kind::Spike, "loss far above the trend");
        }
        if (nans_.contains(step)) {
            r.loss = std::numeric_limits<double>::quiet_NaN();
            event(EventRecord::Kind::Nan, "loss is not a number, the step was skipped");
        }
        if (infinities_.contains(step))
            r.gradientNorm = r.loss = std::numeric_limits<double>::infinity();
    }

    void event(EventRecord::Kind kind, const std::string& what)
    {
        EventRecord e;
        e.monotonicNs = nowNs_;
        e.kind = kind;
        e.text = what;
        record(e);
    }
    void record(const TelemetryRecord& r)
    {
        encodeLine(r, text_);
        ++totals_.lines;
        if (text_.size() > (1u << 20))
            drain();
    }
    void drain()
    {
        out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
        totals_.bytes += text_.size();
        text_.clear();
    }

    const SyntheticRun& run_;
    const Part& part_;
    std::ofstream& out_;
    SyntheticTotals& totals_;
    Random random_;
    std::set<std::int64_t> spikes_, nans_, infinities_, doubled_;
    std::int64_t lookEvery_ = 1;
    std::int64_t checkpointEvery_ = 1;
    std::int64_t stepNs_ = kSecond;
    std::int64_t nowNs_ = 0;
    std::string text_;
};

} // namespace

Result<SyntheticTotals> writeSyntheticTelemetry(const std::filesystem::path& folder, const SyntheticRun& run)
{
    if (run.workers < 1 || run.workers > 1024 || run.steps < run.workers || run.attempts < 1 || run.attempts > 1000)
        return Error { ErrorCode::InvalidArgument,
            "an invented run needs 1 to 1024 workers, 1 to 1000 attempts and a step for each worker" };
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    SyntheticTotals totals;
    // The last of several workers has the slower device and does fewer steps, so that all end together.
    const double share = run.workers == 1 ? 1 : 1 / (run.workers - 1 + 1 / kSlow);
    const auto perWorker = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(run.steps) * share));
    for (int worker = 0; worker < run.workers; ++worker) {
        const bool last = worker == run.workers - 1;
        const auto own = last ? std::max<std::int64_t>(1, run.steps - perWorker * (run.workers - 1)) : perWorker;
        std::int64_t wallNs = run.startWallNs;
        std::int64_t first = 1;
        for (int attempt = 1; attempt <= run.attempts; ++attempt) {
            const bool crashes = attempt < run.attempts;
            const auto until = crashes ? own * attempt / run.attempts : own;
            const Part part { attempt, worker, first, until, own, wallNs, crashes };
            const auto path = folder / (std::to_string(attempt) + "-w" + std::to_string(worker) + ".jsonl");
            std::ofstream out(path, std::ios::binary | std::ios::trunc);
            PartWriter(run, part, out, totals).write();
            if (!out.flush())
                return Error { ErrorCode::Io, path.string() + " cannot be written: check space and permissions" };
            const auto lost = static_cast<std::int64_t>(run.redoneShare * static_cast<double>(until - first + 1));
            // Attempts of all workers begin together, after the slowest of the one before.
            wallNs += static_cast<std::int64_t>(
                          static_cast<double>(perWorker + 1) / run.attempts * run.stepSeconds * 1.05 * kSecond)
                + kPauseNs;
            first = until + 1 - lost;
        }
    }
    return totals;
}

} // namespace furrow
