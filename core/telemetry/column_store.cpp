#include "core/telemetry/column_store.h"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

std::uint32_t clamped(double value)
{
    return value <= 0 ? 0 : value >= 4294967295.0 ? UINT32_MAX : static_cast<std::uint32_t>(value);
}

template <typename T>
std::shared_ptr<const std::vector<T>> shared(std::shared_ptr<const std::vector<T>>& kept, const std::vector<T>& now)
{
    if (!kept || kept->size() != now.size())
        kept = std::make_shared<const std::vector<T>>(now);
    return kept;
}

} // namespace

double ColumnStore::wallOf(const Source& source, std::int64_t monotonicNs) const
{
    const auto& h = source.header;
    return static_cast<double>(h.wallAnchorNs + (monotonicNs - h.monotonicAnchorNs)) / 1e9;
}

void ColumnStore::add(Source& source, const ScannedLine& line)
{
    ++counts_.lines;
    if (line.kind == LineKind::Bad) {
        ++counts_.bad;
        return;
    }
    if (line.kind == LineKind::Header) {
        source.header = line.header;
        source.hasHeader = true;
        source.lastMonotonicNs = 0;
        source.lastStep = 0;
        source.stretch = -1;
        return;
    }
    if (line.kind == LineKind::Unknown) {
        ++counts_.unknown;
        return;
    }
    if (!source.hasHeader) {
        ++counts_.orphans;
        return;
    }
    const int worker = source.header.worker;
    const auto attempt = source.header.attempt;
    switch (line.kind) {
    case LineKind::Step: addStep(source, line.step); break;
    case LineKind::Eval: evals_.push_back({ worker, attempt, wallOf(source, line.eval.monotonicNs), line.eval }); break;
    case LineKind::Event:
        events_.push_back({ worker, attempt, wallOf(source, line.event.monotonicNs), line.event });
        break;
    case LineKind::Sample: samples_.push_back({ worker, wallOf(source, line.sample.monotonicNs), line.sample }); break;
    case LineKind::Claims:
        claimWaits_.push_back({ worker, wallOf(source, line.claims.monotonicNs), line.claims });
        break;
    case LineKind::Drift: drifts_.push_back({ worker, wallOf(source, line.drift.monotonicNs), line.drift }); break;
    case LineKind::Privacy:
        privacy_.push_back({ worker, wallOf(source, line.privacy.monotonicNs), line.privacy });
        break;
    case LineKind::Gpu: {
        constexpr double kGiB = 1024.0 * 1024 * 1024;
        const auto& g = line.gpu;
        gpu_.append({ worker, wallOf(source, g.monotonicNs), static_cast<float>(g.utilization),
            static_cast<float>(static_cast<double>(g.memoryUsedBytes) / kGiB),
            static_cast<float>(static_cast<double>(g.memoryTotalBytes) / kGiB), static_cast<float>(g.powerWatt),
            static_cast<float>(g.temperatureCelsius) });
        break;
    }
    default: break;
    }
}

ColumnStore::Live& ColumnStore::beginStretch(Source& source, const StepRecord& step, double wall)
{
    source.stretch = static_cast<std::int64_t>(stretches_.size());
    Live& live = stretches_.emplace_back();
    live.columns.worker = source.header.worker;
    live.columns.rank = step.rank;
    live.columns.ranks = step.rank == 0 ? std::max(step.ranks, 1) : 1;
    live.columns.beginsProcess = source.lastMonotonicNs == 0;
    live.columns.attempt = source.header.attempt;
    live.columns.wallStart = wall;
    live.columns.firstStep = step.step;
    live.columns.firstOwnTokens = step.tokens;
    return live;
}

void ColumnStore::addStep(Source& source, const StepRecord& step)
{
    if (step.monotonicNs <= source.lastMonotonicNs) {
        ++counts_.duplicates;
        return;
    }
    const double wall = wallOf(source, step.monotonicNs);
    const bool rolledBack = step.step <= source.lastStep;
    ++counts_.steps;
    // 32 bits of milliseconds are 49 days: a longer stretch goes on as a second one.
    const bool full
        = source.stretch >= 0 && wall - stretches_[static_cast<std::size_t>(source.stretch)].columns.wallStart > 4.2e6;
    Live& live = source.stretch < 0 || rolledBack || full ? beginStretch(source, step, wall)
                                                          : stretches_[static_cast<std::size_t>(source.stretch)];
    const double sinceBefore
        = source.lastMonotonicNs == 0 ? 0 : static_cast<double>(step.monotonicNs - source.lastMonotonicNs) / 1e9;
    source.lastMonotonicNs = step.monotonicNs;
    source.lastStep = step.step;
    Stretch& c = live.columns;
    const auto index = static_cast<std::uint32_t>(c.size());
    if (c.chunks.empty() ? step.chunk != 0 : c.chunks.back().chunk != step.chunk)
        c.chunks.append({ step.chunk, index });
    c.epoch = step.epoch;
    c.lastStep = step.step;
    c.step.append(clamped(static_cast<double>(step.step - c.firstStep)));
    c.millis.append(clamped((wall - c.wallStart) * 1000));
    c.loss.append(static_cast<float>(step.loss));
    c.learningRate.append(static_cast<float>(step.lr));
    c.gradientNorm.append(static_cast<float>(step.gradientNorm));
    c.tokensPerSecond.append(static_cast<float>(step.tokensPerSecond));
    c.memoryMiB.append(static_cast<float>(static_cast<double>(step.memoryBytes) / 1048576.0));
    c.stepTokens.append(
        static_cast<float>(step.rank == 0 ? static_cast<double>(step.stepTokens) : step.tokensPerSecond * sinceBefore));
    c.stepSeconds.append(StepSeconds { c.stepTokens.values, c.tokensPerSecond.values }[index]);
    if (step.parameterNorm != 0)
        live.lastParameterNorm = step.parameterNorm;
    c.parameterNorm.append(static_cast<float>(live.lastParameterNorm));
    if (index == 0 ? step.pairs.pairs > 0 : c.hasPairs()) {
        c.margin.append(static_cast<float>(step.pairs.margin));
        c.preferred.append(static_cast<float>(step.pairs.preferred));
    }
    c.waitData.append(static_cast<float>(step.time.waitData));
    c.forward.append(static_cast<float>(step.time.forward));
    c.backward.append(static_cast<float>(step.time.backward));
    c.optimizer.append(static_cast<float>(step.time.optimizer));
    c.checkpoint.append(static_cast<float>(step.time.checkpoint));
    live.pending.push_back(
        { static_cast<std::int64_t>(wall * 1e9), { step.step, step.tokens, step.samples }, step.stepTokens });
}

/// What a step adds to what was trained. A worker tells what its weights have: one that goes back to a checkpoint tells
/// less than before, and trained all the same.
/// @param before  what the worker told last @param isFirst  it may have gone back
ColumnStore::WorkerTotals ColumnStore::madeBy(const Pending& step, const WorkerTotals& before, bool isFirst)
{
    WorkerTotals made { step.then.steps - before.steps, step.then.tokens - before.tokens,
        step.then.samples - before.samples };
    const bool wentBack = isFirst && made.steps <= 0;
    if (wentBack) {
        made = { 1, step.stepTokens, 0 };
        if (step.then.tokens > 0) // the checkpoint that it goes on from is not told: as many as its steps have mostly
            made.samples = std::llround(static_cast<double>(step.then.samples) * static_cast<double>(step.stepTokens)
                / static_cast<double>(step.then.tokens));
    }
    return { std::max<std::int64_t>(made.steps, 0), std::max<std::int64_t>(made.tokens, 0),
        std::max<std::int64_t>(made.samples, 0) };
}

/// The oldest pending step of `live` gets its totals.
void ColumnStore::give(Live& live)
{
    const Pending p = live.pending.front();
    live.pending.pop_front();
    Stretch& c = live.columns;
    if (c.rank == 0) { // what the other ranks trained is in the numbers of rank 0
        const WorkerTotals made = madeBy(p, totals_[c.worker], c.tokens.empty());
        totals_[c.worker] = p.then;
        now_.steps += made.steps;
        now_.tokens += made.tokens;
        now_.samples += made.samples;
    }
    if (c.tokens.empty()) {
        c.firstGlobalStep = now_.steps;
        c.tokensBase = static_cast<double>(now_.tokens);
        c.samplesBase = static_cast<double>(now_.samples);
    }
    c.globalStep.append(clamped(static_cast<double>(now_.steps - c.firstGlobalStep)));
    c.tokens.append(clamped((static_cast<double>(now_.tokens) - c.tokensBase) / kTokenUnit));
    c.samples.append(clamped(static_cast<double>(now_.samples) - c.samplesBase));
}

void ColumnStore::settle(std::int64_t limit)
{
    std::vector<Live*> waiting;
    for (auto& live : stretches_) {
        if (!live.pending.empty())
            waiting.push_back(&live);
    }
    while (!waiting.empty()) {
        // Take the oldest step, then go on with the same stretch as long as it stays the oldest.
        std::size_t oldest = 0;
        std::int64_t second = INT64_MAX;
        for (std::size_t i = 1; i < waiting.size(); ++i) {
            const auto wall = waiting[i]->pending.front().wallNs;
            if (wall < waiting[oldest]->pending.front().wallNs) {
                second = waiting[oldest]->pending.front().wallNs;
                oldest = i;
            } else {
                second = std::min(second, wall);
            }
        }
        Live& live = *waiting[oldest];
        if (live.pending.front().wallNs > limit)
            return;
        do
            give(live);
        while (!live.pending.empty() && live.pending.front().wallNs <= std::min(second, limit));
        if (live.pending.empty())
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(oldest));
    }
}

SnapshotPtr ColumnStore::snapshot() const
{
    auto made = std::make_shared<TelemetrySnapshot>();
    made->stretches.reserve(stretches_.size());
    for (const auto& live : stretches_)
        made->stretches.push_back(live.columns);
    std::stable_sort(made->stretches.begin(), made->stretches.end(), [](const Stretch& a, const Stretch& b) {
        return a.attempt != b.attempt ? a.attempt < b.attempt : a.wallStart < b.wallStart;
    });
    // Active time: attempts one after the other without what lies between them.
    double active = 0;
    for (std::size_t begin = 0; begin < made->stretches.size();) {
        auto end = begin;
        double wallEnd = 0;
        while (end < made->stretches.size() && made->stretches[end].attempt == made->stretches[begin].attempt)
            wallEnd = std::max(wallEnd, made->stretches[end++].wallEnd());
        const double wallStart = made->stretches[begin].wallStart;
        for (auto i = begin; i < end; ++i)
            made->stretches[i].activeBase = active + made->stretches[i].wallStart - wallStart;
        active += wallEnd - wallStart;
        begin = end;
    }
    made->evals = shared(evalsShared_, evals_);
    made->events = shared(eventsShared_, events_);
    made->samples = shared(samplesShared_, samples_);
    made->claimWaits = shared(claimWaitsShared_, claimWaits_);
    made->drifts = shared(driftsShared_, drifts_);
    made->privacy = shared(privacyShared_, privacy_);
    made->gpu = gpu_;
    made->counts = counts_;
    return made;
}

void ColumnStore::clear()
{
    const TelemetryCounts kept = counts_;
    *this = ColumnStore();
    counts_.shortened = kept.shortened;
    counts_.refusedFiles = kept.refusedFiles;
    counts_.problem = kept.problem;
}

} // namespace furrow
