#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace furrow {

/// One worker of a run: a plain value, filled from the command line.
struct TrainerOptions {
    std::filesystem::path runFolder;
    int worker = 0; ///< kNoWorker: a task
    int replica = 0;
    std::int64_t attempt = 0; ///< 0: the newest one
    std::string device = "cpu"; ///< "cpu", "cuda:0" or a GPU's UUID
    int threads = 1; ///< of the CPU
    bool counting = false; ///< train the counting model (storm harness)
    int ranks = 1; ///< workers that train one model together (setting `parallel` is data); `worker` is the rank among
                   ///< them then
    std::filesystem::path meetingFile; ///< through which the ranks find one another
    double stuckSeconds = 30; ///< without progress: the watchdog writes an alarm
};

/// How a worker ended when nothing was wrong.
struct TrainerEnd {
    Message cause; ///< "stopped", "no further epoch is to be trained", "a stopping rule is reached"
    std::int64_t step = 0; ///< optimiser steps in this line of weights
    std::int64_t tokens = 0;
    std::int64_t stepsHere = 0; ///< of this process
    double seconds = 0; ///< from the first claim on
    double trainSeconds = 0; ///< inside optimiser steps
    double dataSeconds = 0; ///< waiting for claims and chunks, making batches
    double checkpointSeconds = 0; ///< training stood still for copies
    double evaluationSeconds = 0;
    double mergeSeconds = 0; ///< in merge rounds, waiting for others included
    double telemetrySeconds = 0;
    double ledgerSeconds = 0; ///< of the ledger's own thread; training did not wait for it
};

/// Claims chunks and trains them until the run ends, a person stops it, or something is wrong; the last checkpoint is
/// committed before it returns. An error that names Cancelled means the lease was lost: another one has the work now.
/// @param stopRequested  asked at each step; true: checkpoint and end
Result<TrainerEnd> runTrainer(const TrainerOptions& options, const std::function<bool()>& stopRequested);

} // namespace furrow
