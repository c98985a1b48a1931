#pragma once

#include "core/config/choices.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// The replicas of a run and what their weights are; read in one go.
struct ReplicaHeads {
    std::vector<SupervisorLedger::ReplicaRow> replicas;
    std::vector<SupervisorLedger::CheckpointRow> checkpoints;
};

/// Whether the replicas must become one base before `workers` of them go on (core/DECISIONS.md 12): another number of
/// replicas has trained since the last merge, or one has that nobody would take up.
bool mustMergeBefore(const ReplicaHeads& heads, int workers);
/// Whether the weights of the run are still in several pieces, parked replicas included.
bool isInPieces(const ReplicaHeads& heads);

struct MergeTask {
    RunPaths paths;
    std::int64_t attempt = 0;
    MergeMethod method = MergeMethod::Average;
    std::string device; ///< "cpu" or the UUID of a GPU: of a worker, none of which runs meanwhile
};
/// Runs a process that merges all replicas: only furrow-worker links libtorch. One that is killed is started again,
/// three times in all.
/// @param goOn  asked once a second; false ends it with Cancelled
Status runMergeTask(const MergeTask& task, const std::function<bool()>& goOn);

} // namespace furrow
