#include "core/trials/synthetic_part.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

double gauss(Random& random)
{
    const double u = std::max(random.uniform(), 1e-12);
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

} // namespace

SyntheticWriter::SyntheticWriter(
    const SyntheticRun& run, SyntheticPart part, std::ostream& out, SyntheticTotals& totals)
    : run_(run)
    , part_(std::move(part))
    , out_(out)
    , totals_(totals)
    , random_(
          mixSeed({ run.seed, static_cast<std::uint64_t>(part_.attempt), static_cast<std::uint64_t>(part_.worker) }))
    , nowNs_(kSyntheticBootNs)
{
    Random marks(mixSeed({ run.seed, 77, static_cast<std::uint64_t>(part_.worker) }));
    const auto pick = [&](int count, std::set<std::int64_t>& into) {
        for (int i = part_.worker; i < count; i += run.workers)
            into.insert(1
                + static_cast<std::int64_t>(
                    marks.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, part_.ownSteps)))));
    };
    pick(run.spikes, spikes_);
    pick(run.notANumbers, nans_);
    pick(run.infinities, infinities_);
    pick(run.duplicates, doubled_);
    lookEvery_ = std::max<std::int64_t>(1, part_.ownSteps / 400);
    stepNs_ = static_cast<std::int64_t>(
        run.stepSeconds * kSecond * (part_.worker == run.workers - 1 && run.workers > 1 ? kSlowWorker : 1.0));
}

void SyntheticWriter::begin()
{
    encodeLine(TelemetryHeader { part_.runId, part_.attempt, part_.worker,
                   "synthetic-boot-" + std::to_string(part_.attempt), part_.wallNs, kSyntheticBootNs },
        text_);
    event(EventRecord::Kind::Started, part_.attempt == 1 ? "started" : "resumed from the newest checkpoint");
}

double SyntheticWriter::lossAt(std::int64_t step) const
{
    const double p = static_cast<double>(step) / static_cast<double>(part_.ownSteps);
    const double slow = std::sin(p * 23 + part_.worker * 2.1) * 0.02 + std::sin(p * 7.3 + part_.worker) * 0.015;
    return 3.36 + 0.42 * std::exp(-3.2 * p) + 6.5 * std::exp(-160 * p) + slow + (part_.worker == 2 ? 0.03 * p : 0);
}

double SyntheticWriter::step(const SyntheticStep& step, double checkpointMs)
{
    const double p = static_cast<double>(step.step) / static_cast<double>(part_.ownSteps);
    StepRecord r;
    const double stepMs = static_cast<double>(stepNs_) / 1e6;
    r.time = { 2 + 3 * random_.uniform(), stepMs * 0.31, stepMs * 0.6, stepMs * 0.05, checkpointMs };
    const auto spent = static_cast<std::int64_t>(
        static_cast<double>(stepNs_) * (1 + 0.02 * gauss(random_)) + r.time.checkpoint * 1e6);
    nowNs_ += std::max<std::int64_t>(spent, 1000);
    r.monotonicNs = nowNs_;
    r.step = step.step;
    r.block = step.block;
    r.chunk = step.chunk;
    r.samples = step.samples;
    r.tokens = step.tokens;
    r.stepTokens = step.stepTokens;
    r.loss = static_cast<float>(lossAt(step.step) + 0.03 * gauss(random_));
    r.lr = static_cast<float>(6e-4 * std::min(1.0, p * 50) * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * p))));
    r.gradientNorm = static_cast<float>(0.6 + 0.4 * std::exp(-20 * p) + std::abs(0.1 * gauss(random_)));
    r.memoryBytes = 17'100'000'000 + static_cast<std::int64_t>(random_.below(50'000'000));
    mark(step.step, r);
    r.tokensPerSecond = static_cast<double>(step.stepTokens) / (static_cast<double>(spent) / kSecond);
    record(r);
    ++totals_.stepLines;
    if (doubled_.contains(step.step)) {
        record(r);
        ++totals_.stepLines;
        ++totals_.duplicates;
    }
    if (step.step % lookEvery_ == 0)
        record(GpuRecord { nowNs_, "GPU-synthetic-" + std::to_string(part_.worker), 0.93 + 0.06 * random_.uniform(),
            r.memoryBytes, 25'757'220'864, 380 + 20 * gauss(random_), 64 + 2 * gauss(random_) });
    return r.loss;
}

/// Spikes last some steps inside one chunk, as bad data makes them.
void SyntheticWriter::mark(std::int64_t step, StepRecord& r)
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

void SyntheticWriter::checkpoint(std::int64_t number)
{
    event(EventRecord::Kind::Checkpoint, "checkpoint " + std::to_string(number));
}

void SyntheticWriter::evaluation(const SyntheticStep& step)
{
    record(EvalRecord { nowNs_, step.step, step.tokens, static_cast<float>(evaluationLoss(step.step)), step.step,
        EvalRecord::What::Replica });
}

void SyntheticWriter::end(const std::string& why) { event(EventRecord::Kind::Stopped, why); }

void SyntheticWriter::waitUntil(std::int64_t wallNs)
{
    nowNs_ = std::max(nowNs_, wallNs - part_.wallNs + kSyntheticBootNs);
}

void SyntheticWriter::event(EventRecord::Kind kind, const std::string& what)
{
    EventRecord e;
    e.monotonicNs = nowNs_;
    e.kind = kind;
    e.text = what;
    record(e);
}

void SyntheticWriter::record(const TelemetryRecord& r)
{
    encodeLine(r, text_);
    ++totals_.lines;
    if (text_.size() > (1u << 20))
        drain();
}

void SyntheticWriter::drain()
{
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    totals_.bytes += text_.size();
    text_.clear();
}

} // namespace furrow
