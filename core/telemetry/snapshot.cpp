#include "core/telemetry/snapshot.h"

namespace furrow {
namespace {

ScaledAxis axisOf(const Stretch& s, XAxis axis, double samplesPerEpoch)
{
    switch (axis) {
    case XAxis::WorkerStep: return { s.step, static_cast<double>(s.firstStep), 1 };
    case XAxis::GlobalStep: return { s.globalStep, static_cast<double>(s.firstGlobalStep), 1 };
    case XAxis::Samples: return { s.samples, s.samplesBase, 1 };
    case XAxis::Tokens: return { s.tokens, s.tokensBase, kTokenUnit };
    case XAxis::Epoch:
        if (samplesPerEpoch > 0)
            return { s.samples, s.samplesBase / samplesPerEpoch, 1 / samplesPerEpoch };
        return { s.samples, s.samplesBase, 1 };
    case XAxis::WallTime: return { s.millis, s.wallStart, 1e-3 };
    case XAxis::ActiveTime: break;
    }
    return { s.millis, s.activeBase, 1e-3 };
}

} // namespace

std::size_t Stretch::memoryBytes() const
{
    std::size_t sum = step.memoryBytes() + globalStep.memoryBytes() + millis.memoryBytes() + tokens.memoryBytes()
        + samples.memoryBytes();
    for (const auto* metric : { &loss, &learningRate, &gradientNorm, &tokensPerSecond, &memoryMiB, &stepTokens,
             &parameterNorm, &margin, &preferred })
        sum += metric->memoryBytes();
    for (const auto* metric : { &waitData, &forward, &backward, &optimizer, &checkpoint })
        sum += metric->memoryBytes();
    return sum + stepSeconds.memoryBytes() + chunks.memoryBytes();
}

std::int64_t Stretch::ownTokens() const
{
    return firstOwnTokens + (size() < 2 ? 0 : std::llround(stepTokens.range(1, size()).sum));
}

double Stretch::quietAfter() const
{
    constexpr double kLeast = 2;
    constexpr double kSteps = 4;
    const std::size_t first = size() > 8 ? size() - 8 : 0;
    const auto steps = static_cast<double>(size()) - 1 - static_cast<double>(first);
    return steps > 0 ? std::max(kLeast, kSteps * (wallEnd() - wallAt(first)) / steps) : kLeast;
}

PaceColumn Stretch::paces() const
{
    return { tokensPerSecond, stepTokens, stepSeconds, 1.0 / ranks, beginsProcess ? std::size_t(1) : 0 };
}

CurvePtr TelemetrySnapshot::curve(std::size_t stretch, Metric metric, XAxis axis, double samplesPerEpoch) const
{
    const Stretch& s = stretches[stretch];
    if ((metric == Metric::Margin || metric == Metric::Preferred) && !s.hasPairs())
        return makeCurve(std::vector<double> {}, std::vector<float> {});
    ScaledAxis x = axisOf(s, axis, samplesPerEpoch);
    switch (metric) {
    case Metric::Loss: return makeCurve(std::move(x), s.loss);
    case Metric::LearningRate: return makeCurve(std::move(x), s.learningRate);
    case Metric::GradientNorm: return makeCurve(std::move(x), s.gradientNorm);
    case Metric::TokensPerSecond: return makeCurve(std::move(x), s.paces());
    case Metric::WaitData: return makeCurve(std::move(x), s.waitData);
    case Metric::Forward: return makeCurve(std::move(x), s.forward);
    case Metric::Backward: return makeCurve(std::move(x), s.backward);
    case Metric::Optimizer: return makeCurve(std::move(x), s.optimizer);
    case Metric::Checkpoint: return makeCurve(std::move(x), s.checkpoint);
    case Metric::MemoryMiB: return makeCurve(std::move(x), s.memoryMiB);
    case Metric::ParameterNorm: return makeCurve(std::move(x), s.parameterNorm);
    case Metric::Margin: return makeCurve(std::move(x), s.margin);
    case Metric::Preferred: return makeCurve(std::move(x), s.preferred);
    case Metric::StepTokens: break;
    }
    return makeCurve(std::move(x), s.stepTokens);
}

double TelemetrySnapshot::xAt(std::size_t stretch, std::size_t index, XAxis axis, double samplesPerEpoch) const
{
    const ScaledAxis x = axisOf(stretches[stretch], axis, samplesPerEpoch);
    return index < x.units.size() ? x.base + x.scale * x.units[index] : x.base;
}

std::size_t TelemetrySnapshot::supersededFrom(std::size_t stretch) const
{
    const Stretch& s = stretches[stretch];
    auto from = s.size();
    for (auto later = stretch + 1; later < stretches.size(); ++later) {
        const Stretch& l = stretches[later];
        if (l.worker != s.worker || l.size() == 0)
            continue;
        const auto offset = l.firstStep - s.firstStep;
        from = std::min(from,
            offset <= 0 ? 0
                        : s.step.lowerBound(static_cast<std::uint32_t>(std::min<std::int64_t>(offset, UINT32_MAX))));
    }
    return from;
}

namespace {

/// How many chunks of a stretch begin at or before a step of it.
std::size_t chunksUntil(const Column<ChunkStart>& chunks, std::size_t index)
{
    std::size_t low = 0;
    std::size_t high = chunks.size();
    while (low < high) {
        const auto middle = (low + high) / 2;
        if (chunks[middle].index <= index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

} // namespace

std::int64_t TelemetrySnapshot::chunkAt(std::size_t stretch, std::size_t index) const
{
    const auto& chunks = stretches[stretch].chunks;
    const auto count = chunksUntil(chunks, index);
    return count == 0 ? 0 : chunks[count - 1].chunk;
}

TelemetrySnapshot::Interval TelemetrySnapshot::intervalAround(std::size_t stretch, std::size_t index) const
{
    const auto& chunks = stretches[stretch].chunks;
    const auto count = chunksUntil(chunks, index);
    return { stretch, count == 0 ? 0 : chunks[count - 1].index,
        count < chunks.size() ? chunks[count].index : stretches[stretch].size() };
}

std::vector<TelemetrySnapshot::Interval> TelemetrySnapshot::intervalsOf(std::int64_t chunk) const
{
    std::vector<Interval> found;
    for (std::size_t k = 0; k < stretches.size(); ++k) {
        const auto& chunks = stretches[k].chunks;
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            if (chunks[i].chunk == chunk)
                found.push_back(
                    { k, chunks[i].index, i + 1 < chunks.size() ? chunks[i + 1].index : stretches[k].size() });
        }
    }
    return found;
}

bool TelemetrySnapshot::find(int worker, double wall, Interval& at) const
{
    for (auto k = stretches.size(); k-- > 0;) {
        const Stretch& s = stretches[k];
        if ((worker >= 0 && s.worker != worker) || s.size() == 0 || s.wallStart > wall)
            continue;
        const auto ms = std::min((wall - s.wallStart) * 1000 + 1, 4e9);
        const auto end = s.millis.lowerBound(static_cast<std::uint32_t>(ms));
        at = { k, end == 0 ? 0 : end - 1, end == 0 ? 1 : end };
        return true;
    }
    return false;
}

std::size_t TelemetrySnapshot::memoryBytes() const
{
    std::size_t sum = gpu.memoryBytes();
    for (const auto& s : stretches)
        sum += s.memoryBytes();
    return sum;
}

namespace {

Stretch stretchUntil(const Stretch& whole, double wall)
{
    const double millis = (wall - whole.wallStart) * 1000;
    const std::size_t count = millis < 0 ? 0 : whole.millis.lowerBound(millis + 0.5);
    if (count == whole.size())
        return whole;
    Stretch head = whole;
    for (SteadyColumn* column : { &head.step, &head.globalStep, &head.millis, &head.tokens, &head.samples })
        *column = column->first(count);
    for (auto* metric : { &head.loss, &head.learningRate, &head.gradientNorm, &head.tokensPerSecond, &head.memoryMiB,
             &head.stepTokens, &head.parameterNorm })
        *metric = metric->first(count);
    for (auto* metric : { &head.margin, &head.preferred })
        *metric = whole.hasPairs() ? metric->first(count) : *metric;
    for (auto* metric : { &head.waitData, &head.forward, &head.backward, &head.optimizer, &head.checkpoint })
        *metric = metric->first(count);
    std::size_t chunks = head.chunks.size();
    while (chunks > 0 && head.chunks[chunks - 1].index >= count)
        --chunks;
    head.chunks = head.chunks.first(chunks);
    head.lastStep = count == 0 ? head.firstStep : head.firstStep + head.step[count - 1];
    return head;
}

template <typename Point>
std::shared_ptr<const std::vector<Point>> pointsUntil(const std::shared_ptr<const std::vector<Point>>& all, double wall)
{
    auto kept = std::make_shared<std::vector<Point>>();
    if (all)
        std::copy_if(all->begin(), all->end(), std::back_inserter(*kept),
            [wall](const Point& point) { return point.wall <= wall; });
    return kept;
}

} // namespace

SnapshotPtr snapshotUntil(const TelemetrySnapshot& snapshot, double wall)
{
    auto head = std::make_shared<TelemetrySnapshot>();
    for (const Stretch& stretch : snapshot.stretches) {
        if (stretch.wallStart <= wall)
            head->stretches.push_back(stretchUntil(stretch, wall));
    }
    head->evals = pointsUntil(snapshot.evals, wall);
    head->events = pointsUntil(snapshot.events, wall);
    head->samples = pointsUntil(snapshot.samples, wall);
    head->claimWaits = pointsUntil(snapshot.claimWaits, wall);
    head->drifts = pointsUntil(snapshot.drifts, wall);
    head->privacy = pointsUntil(snapshot.privacy, wall);
    for (std::size_t i = 0; i < snapshot.gpu.size(); ++i) {
        if (snapshot.gpu[i].wall <= wall)
            head->gpu.append(snapshot.gpu[i]);
    }
    head->counts = snapshot.counts;
    head->bytesRead = snapshot.bytesRead;
    head->bytesKnown = snapshot.bytesKnown;
    head->complete = snapshot.complete;
    return head;
}

} // namespace furrow
