#include "ui/models/kept_trainings.h"

#include "core/run/status/lost_trainings.h"
#include "core/tracker/left_out_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {

namespace {

using Interval = TelemetrySnapshot::Interval;

constexpr double kClocks = 1; // [s] that the clocks of a worker's telemetry and of the ledger may be apart

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

bool isWhole(const ClaimRow& claim)
{
    return claim.outcome == ClaimEnd::Trained
        || (claim.outcome == ClaimEnd::Committed && (!claim.isLeftBehind || claim.keptWindows >= claim.done.size()));
}

/// Its first windows are in a checkpoint, the others are lost.
bool isCut(const ClaimRow& claim)
{
    return !isWhole(claim) && claim.outcome != ClaimEnd::Open && claim.keptWindows > 0;
}

/// Picks the steps of one training: a worker may train a chunk several times, and the same steps again after its death.
class StepsOf {
public:
    StepsOf(const std::vector<ClaimRow>& history, std::size_t at)
        : claim_(history[at])
        , from_(seconds(claim_.startedWallNs) - kClocks)
    {
        if (claim_.endedWallNs != 0)
            until_ = seconds(claim_.endedWallNs) + kClocks;
        for (std::size_t i = 0; i < history.size(); ++i) {
            const ClaimRow& other = history[i];
            if (other.worker != claim_.worker || other.attempt != claim_.attempt)
                continue;
            if (i < at)
                from_ = std::max(from_, seconds(claim_.claimedWallNs));
            else if (i > at)
                until_ = std::min(until_, seconds(other.claimedWallNs));
        }
    }
    /// Empty: it has none there.
    Interval within(const TelemetrySnapshot& telemetry, Interval at) const
    {
        const Stretch& stretch = telemetry.stretches[at.stretch];
        if (claim_.startedWallNs == 0 || stretch.rank > 0 || stretch.worker != claim_.worker
            || stretch.attempt != claim_.attempt.value)
            return { at.stretch, at.begin, at.begin };
        while (at.begin < at.end && !has(stretch, at.begin))
            ++at.begin;
        while (at.end > at.begin && !has(stretch, at.end - 1))
            --at.end;
        return at;
    }

private:
    bool has(const Stretch& stretch, std::size_t index) const
    {
        const double wall = stretch.wallAt(index);
        const std::int64_t step = stretch.firstStep + static_cast<std::int64_t>(stretch.step[index]);
        const bool isToldSo = claim_.firstStep <= 0 || (step >= claim_.firstStep && step <= claim_.lastStep);
        return wall >= from_ && wall < until_ && isToldSo;
    }

    const ClaimRow& claim_;
    double from_;
    double until_ = std::numeric_limits<double>::infinity();
};

/// Of a training that was cut those that are kept.
std::vector<Interval> stepsOf(const TelemetrySnapshot& telemetry, const std::vector<ClaimRow>& history, std::size_t at)
{
    const StepsOf steps(history, at);
    std::size_t most = isCut(history[at]) ? static_cast<std::size_t>(std::max<std::int64_t>(0, history[at].keptSteps))
                                          : std::numeric_limits<std::size_t>::max();
    std::vector<Interval> found;
    for (const Interval& interval : telemetry.intervalsOf(history[at].chunk.value)) {
        Interval mine = steps.within(telemetry, interval);
        mine.end = mine.begin + std::min(mine.end - mine.begin, most);
        most -= mine.end - mine.begin;
        if (mine.end > mine.begin)
            found.push_back(mine);
    }
    return found;
}

/// What the ledger does not have of a training that was cut; false: its steps are not there.
bool addSteps(KeptTrainings& kept, const TelemetrySnapshot& telemetry, const std::vector<Interval>& steps)
{
    for (const auto& [at, begin, end] : steps) {
        const Stretch& stretch = telemetry.stretches[at];
        for (std::size_t i = begin; i < end; ++i) {
            const double tokens = static_cast<double>(stretch.stepTokens.values[i]);
            const double loss = static_cast<double>(stretch.loss.values[i]);
            const double norm = static_cast<double>(stretch.gradientNorm.values[i]);
            kept.tokens += std::isfinite(loss) ? static_cast<std::int64_t>(tokens) : 0;
            kept.lossSum += std::isfinite(loss) ? loss * tokens : 0;
            kept.peakGradientNorm = std::isfinite(norm) ? std::max(kept.peakGradientNorm, norm) : kept.peakGradientNorm;
        }
        kept.endedNs = std::max(kept.endedNs, static_cast<std::int64_t>(stretch.wallAt(end - 1) * 1e9));
    }
    return !steps.empty();
}

void addWhole(KeptTrainings& kept, const ClaimRow& claim)
{
    kept.samples += claim.samples;
    kept.tokens += claim.tokens;
    kept.lossSum += claim.tokens > 0 ? claim.meanLoss * static_cast<double>(claim.tokens) : 0;
    kept.peakGradientNorm = std::max(kept.peakGradientNorm, claim.peakGradientNorm);
    kept.endedNs = std::max(kept.endedNs, claim.endedWallNs);
}

void addCut(KeptTrainings& kept, const ClaimRow& claim, const ChunkCell* cell, const TelemetrySnapshot* telemetry,
    const std::vector<Interval>& steps)
{
    kept.isCut = true;
    kept.samples += cell != nullptr && cell->windows > 0
        ? samplesOfWindows(claim.keptWindows, cell->samples, cell->windows)
        : samplesOfWindows(claim.keptWindows, claim.samples, claim.done.size());
    if (telemetry != nullptr && addSteps(kept, *telemetry, steps))
        return;
    kept.endedNs = std::max(kept.endedNs, claim.endedWallNs);
    kept.isCounted = false;
}

} // namespace

KeptTrainings keptTrainings(
    const std::vector<ClaimRow>& history, const ChunkCell* cell, const TelemetrySnapshot* telemetry)
{
    KeptTrainings kept;
    kept.lost = lostCauses(history);
    for (std::size_t i = 0; i < history.size(); ++i) {
        const ClaimRow& claim = history[i];
        if (!isWhole(claim) && !isCut(claim))
            continue;
        ++kept.parts;
        kept.saved += claim.outcome == ClaimEnd::Trained ? 0 : 1;
        if (std::find(kept.workers.begin(), kept.workers.end(), claim.worker) == kept.workers.end())
            kept.workers.push_back(claim.worker);
        if (isWhole(claim))
            addWhole(kept, claim);
        else
            addCut(kept, claim, cell, telemetry,
                telemetry == nullptr ? std::vector<Interval> {} : stepsOf(*telemetry, history, i));
        kept.beganNs = kept.beganNs == 0 ? claim.startedWallNs : std::min(kept.beganNs, claim.startedWallNs);
        kept.checkpoint = std::max(kept.checkpoint, claim.checkpoint);
    }
    return kept;
}

std::vector<TelemetrySnapshot::Interval> keptSteps(
    const TelemetrySnapshot& telemetry, ChunkId chunk, const std::vector<ClaimRow>& history)
{
    std::vector<Interval> kept;
    for (std::size_t i = 0; i < history.size(); ++i) {
        if (!isWhole(history[i]) && !isCut(history[i]) && history[i].outcome != ClaimEnd::Open)
            continue;
        for (const Interval& steps : stepsOf(telemetry, history, i)) {
            if (!kept.empty() && kept.back().stretch == steps.stretch && kept.back().end == steps.begin)
                kept.back().end = steps.end;
            else
                kept.push_back(steps);
        }
    }
    if (!kept.empty())
        return kept;
    const auto all = telemetry.intervalsOf(chunk.value);
    return all.empty() || all.back().end == all.back().begin ? kept : std::vector { all.back() };
}

} // namespace furrow
