#pragma once

#include "core/base/clock.h"
#include "core/base/message.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace furrow {

/// Writes into the ledger what stands in the way of a run for a while, and when that was over, so that it is known
/// afterwards, whoever looked: data that cannot be reached for ten seconds, a worker without progress for five minutes,
/// a disk with less than five GiB, checkpoints that are away. What cannot be written is tried again with the next
/// second. recordedTrouble() reads it. One thread.
class TroubleWatch {
public:
    TroubleWatch(RunPaths paths, SupervisorLedger& ledger, const Clock& clock)
        : paths_(std::move(paths))
        , ledger_(ledger)
        , clock_(clock)
    {
    }

    /// Each second of an attempt.
    /// @param waitsFor  what the feeder says while it waits and nothing is trained; "": it does not
    /// @param isToTrain  nobody paused or stopped it
    Status see(const Message& waitsFor, bool isToTrain);

private:
    void seeData(const Message& doing);
    Status seeWorkers(bool isToTrain);
    void seeDisk();
    void seeCheckpoints();
    void keep(const std::string& key, bool isSo, const Message& began, const Message& over);

    RunPaths paths_;
    SupervisorLedger& ledger_;
    const Clock& clock_;
    std::set<std::string> told_; // what began and is not over
    std::int64_t waitsSinceNs_ = 0; // wall; 0: it does not wait for data
    std::int64_t nextDiskLookNs_ = 0;
};

} // namespace furrow
