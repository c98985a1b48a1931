#pragma once

#include "core/run/status/worker_status.h"

#include <vector>

namespace furrow {

/// Whose loss the run has now: a worker that is gone says nothing any more of what the others have trained since.
/// @return  into `workers`
std::vector<const WorkerStatus*> tellingWorkers(const std::vector<WorkerStatus>& workers);

/// Those of them that told a loss: the mean of the run is over these.
std::vector<const WorkerStatus*> workersOfLoss(const std::vector<WorkerStatus>& workers);

/// Of the workers of that mean, those whose newest steps no weights have any more (WorkerStatus::lossIsGone).
int workersOfLostLoss(const std::vector<WorkerStatus>& workers);

} // namespace furrow
