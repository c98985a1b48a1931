#pragma once

#include "core/run/status/lost_trainings.h"
#include "ui/charts/chart_data.h"

namespace furrow {

/// Lines end where their lost steps begin (ChartLine::supersededFrom), at once and not when the run goes on.
/// @param data  as chartDataOf(snapshot, metric, ...) made it, of all workers
void dashLost(ChartData& data, const TelemetrySnapshot& snapshot, Metric metric, const std::vector<LostTraining>& lost);

/// Whether the weights of an evaluation are in no model any more: the last step before it is lost, and in them.
bool isOfLost(const ChartEval& eval, const TelemetrySnapshot& snapshot, const std::vector<LostTraining>& lost);

/// The newest losses of a worker that are not lost, oldest first, joined to at most as many points.
std::vector<double> newestLosses(
    const TelemetrySnapshot& snapshot, int worker, const std::vector<LostTraining>& lost, std::size_t points);

} // namespace furrow
