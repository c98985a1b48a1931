#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/model/measured_memory.h"
#include "core/run/status/viewpoint.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

struct WorkerStatus {
    int worker = 0;
    int replica = 0;
    std::int64_t pid = 0; ///< 0: it cannot be seen from here (another container)
    bool alive = false;
    std::string device;
    std::string deviceName;
    WorkerPhase phase = WorkerPhase::None;
    Message endCause; ///< of the newest incarnation when it is not alive
    Message lastDeath; ///< why the one before the newest ended, when it was started again in this attempt
    int restarts = 0;
    std::int64_t step = 0;
    std::int64_t tokens = 0; ///< of its replica, as the step; of ranks that train one model those of all together
    double loss = 0;
    bool lossIsGone = false; ///< of one in `lossWorkers`: it ended, and no weights have the step that `loss` is of
    double tokensPerSecond = 0; ///< of a living one, 0 while it makes no steps; else it says nothing
    std::int64_t chunkBlock = -1;
    int chunkColumn = -1;
    double chunkFraction = 0;
    double secondsSinceProgress = 0; ///< of a living one
    std::int64_t startedWallNs = 0; ///< of the newest incarnation
    std::int64_t endedWallNs = 0; ///< of the newest incarnation; 0: it lives, or its end was not recorded
    std::optional<MeasuredMemory> memory; ///< absent before its first checkpoint
};

/// The workers of an attempt, by their numbers: what they told last, and whether they live.
/// @param rows  of the run, ascending
std::vector<WorkerStatus> workersOf(const std::vector<IncarnationRow>& rows, AttemptId attempt, const Viewpoint& view);

/// Says of those whose loss the run shows whether it is of steps that are trained again (WorkerStatus::lossIsGone).
/// @param rows  as the workers were made of
Status markGoneLosses(std::vector<WorkerStatus>& workers, AttemptId attempt, LedgerReader& ledger,
    const std::vector<IncarnationRow>& rows);

bool isAnyAlive(const std::vector<WorkerStatus>& workers);

/// The loss of the run now.
struct MeanLoss {
    double loss = 0; ///< weighted by tokens; NaN: none yet
    int workers = 0; ///< that it is the mean of
    bool isGone = false; ///< of steps that no weights have any more
};
MeanLoss meanLossOf(const std::vector<WorkerStatus>& workers);

/// The pace of the run, in tokens per second. One that makes no steps now gets a pace of 0.
/// @param isHindered  it is known what keeps them from it
double settlePaces(std::vector<WorkerStatus>& workers, bool isHindered);

} // namespace furrow
