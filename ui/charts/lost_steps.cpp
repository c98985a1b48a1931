#include "ui/charts/lost_steps.h"

#include <algorithm>
#include <map>

namespace furrow {

namespace {

/// A worker that was started again evaluates what it begins with: the step before that is lost, and not in its weights.
/// @param from  where the lost steps of the stretch begin
bool isBehind(const ChartEval& eval, const Stretch& stretch, std::size_t from)
{
    return eval.index >= from && from < stretch.size()
        && (eval.step < 0 || eval.step >= stretch.firstStep + static_cast<std::int64_t>(stretch.step[from]));
}

} // namespace

bool isOfLost(const ChartEval& eval, const TelemetrySnapshot& snapshot, const std::vector<LostTraining>& lost)
{
    if (eval.stretch >= snapshot.stretches.size())
        return false;
    const Stretch& stretch = snapshot.stretches[eval.stretch];
    return isBehind(eval, stretch, lostFrom(stretch, lost));
}

void dashLost(ChartData& data, const TelemetrySnapshot& snapshot, Metric metric, const std::vector<LostTraining>& lost)
{
    std::vector<std::size_t> froms; // of each stretch
    std::vector<std::size_t> drawn; // stretches, as the lines are ordered
    std::map<std::int64_t, std::size_t> steps; // lost, by attempt
    for (const Stretch& stretch : snapshot.stretches) {
        const bool isOfPairs = metric == Metric::Margin || metric == Metric::Preferred;
        if ((stretch.rank == 0 || metric == Metric::TokensPerSecond || metric == Metric::MemoryMiB)
            && (!isOfPairs || stretch.hasPairs()))
            drawn.push_back(froms.size());
        froms.push_back(lostFrom(stretch, lost));
        if (stretch.rank == 0)
            steps[stretch.attempt] += stretch.size() - froms.back();
    }
    std::stable_sort(drawn.begin(), drawn.end(), [&snapshot](std::size_t a, std::size_t b) {
        return snapshot.stretches[a].worker < snapshot.stretches[b].worker;
    });
    for (std::size_t i = 0; i < drawn.size() && i < data.lines.size(); ++i)
        data.lines[i].supersededFrom = froms[drawn[i]];
    for (ChartEval& eval : data.evals)
        eval.isLost
            = eval.stretch < froms.size() && isBehind(eval, snapshot.stretches[eval.stretch], froms[eval.stretch]);
    for (ChartSeam& seam : data.seams)
        if (seam.before != 0)
            sayLost(seam, steps[seam.before]);
}

std::vector<double> newestLosses(
    const TelemetrySnapshot& snapshot, int worker, const std::vector<LostTraining>& lost, std::size_t points)
{
    std::vector<double> losses;
    for (const Stretch& stretch : snapshot.stretches) {
        if (stretch.worker != worker || stretch.rank > 0)
            continue;
        const std::size_t kept = lostFrom(stretch, lost);
        const std::size_t perPoint = std::max<std::size_t>(1, kept / points);
        for (std::size_t begin = 0; begin + perPoint <= kept; begin += perPoint)
            losses.push_back(stretch.loss.pyramid.range(stretch.loss.values, begin, begin + perPoint).mean());
    }
    if (losses.size() > points)
        losses.erase(losses.begin(), losses.end() - static_cast<std::ptrdiff_t>(points));
    return losses;
}

} // namespace furrow
