#include "ui/charts/lost_steps.h"

#include <algorithm>
#include <map>

namespace furrow {

namespace {

/// Work after the last checkpoint of a worker is lost, never work before it: the lost steps are the end of a stretch.
std::size_t lostFrom(const Stretch& stretch, const std::vector<LostTraining>& lost)
{
    std::size_t from = stretch.size();
    for (std::size_t i = stretch.chunks.size(); i-- > 0;) {
        const ChunkStart start = stretch.chunks[i];
        const LostTraining* training = lostTrainingAt(
            lost, claimant(stretch.worker, stretch.rank), stretch.attempt, start.chunk, stretch.wallAt(start.index));
        if (training == nullptr)
            break;
        std::size_t first = start.index; // lost
        while (first < from && stretch.step[first] - stretch.step[start.index] < training->keptSteps)
            ++first;
        from = first;
        if (training->keptSteps > 0)
            break;
    }
    return from;
}

} // namespace

// A worker that was started again evaluates what it begins with: the step before that is lost, and not in its weights.
bool isOfLost(const ChartEval& eval, const TelemetrySnapshot& snapshot, const std::vector<LostTraining>& lost)
{
    if (eval.stretch >= snapshot.stretches.size())
        return false;
    const Stretch& stretch = snapshot.stretches[eval.stretch];
    const std::size_t from = lostFrom(stretch, lost);
    return eval.index >= from && from < stretch.size()
        && (eval.step < 0 || eval.step >= stretch.firstStep + static_cast<std::int64_t>(stretch.step[from]));
}

void dashLost(ChartData& data, const TelemetrySnapshot& snapshot, Metric metric, const std::vector<LostTraining>& lost)
{
    std::vector<const Stretch*> stretches; // as the lines are ordered
    std::map<std::int64_t, std::size_t> steps; // lost, by attempt
    for (const Stretch& stretch : snapshot.stretches) {
        if (stretch.rank == 0 || metric == Metric::TokensPerSecond || metric == Metric::MemoryMiB)
            stretches.push_back(&stretch);
        if (stretch.rank == 0)
            steps[stretch.attempt] += stretch.size() - lostFrom(stretch, lost);
    }
    std::stable_sort(
        stretches.begin(), stretches.end(), [](const Stretch* a, const Stretch* b) { return a->worker < b->worker; });
    for (std::size_t i = 0; i < stretches.size() && i < data.lines.size(); ++i)
        data.lines[i].supersededFrom = lostFrom(*stretches[i], lost);
    for (ChartEval& eval : data.evals)
        eval.isLost = isOfLost(eval, snapshot, lost);
    for (ChartSeam& seam : data.seams)
        if (seam.before != 0)
            sayLost(seam, steps[seam.before]);
}

} // namespace furrow
