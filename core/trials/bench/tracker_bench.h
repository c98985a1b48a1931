#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// What `furrowctl bench tracker` measures: workers that claim and finish chunks as fast as the ledger lets them, while
/// a supervisor empties the WAL as in a real run.
struct TrackerBenchOptions {
    std::filesystem::path folder; ///< on the disk to be measured; trackers are made in it and removed again
    std::int64_t chunks = 100'000;
    int workers = 1;
    bool durable = false; ///< each completion, with its claim, survives a power loss (FULL), not only commits
    double seconds = 3; ///< how long to measure
    /// Program and first arguments of a worker process, which must pass its further arguments to
    /// runTrackerBenchWorker. Empty: threads with a connection each.
    std::vector<std::string> workerCommand;
};

struct TrackerBenchResult {
    std::int64_t chunks = 0;
    int workers = 0;
    bool durable = false;
    std::int64_t pairs = 0; ///< claims with their completion
    double seconds = 0;
    double pairsPerSecond = 0;
    double syncMs = 0; ///< of the disk: median 4 KiB append + fdatasync
    double pairsPerSync = 0; ///< pairsPerSecond * syncMs / 1000: comparable between disks
    double claimMsP50 = 0;
    double claimMsP99 = 0;
    double claimMsMax = 0;
    double fillSeconds = 0; ///< making the tracker with all its chunks
    double openToClaimMs = 0; ///< from nothing open to the first claim
    double fileMiB = 0;
    std::int64_t commitChunks = 0;
    double commitMs = 0; ///< one commit of commitChunks chunks
};

Result<TrackerBenchResult> benchTracker(const TrackerBenchOptions& options);

/// Body of a worker process of the benchmark; returns the exit code. Arguments as benchTracker gave them.
int runTrackerBenchWorker(const std::vector<std::string>& arguments);

} // namespace furrow
