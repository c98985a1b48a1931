#pragma once

#include "core/base/random.h"
#include "core/run/life_cycle.h"
#include "core/run/run_status.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// The run that a storm goes over: the real programs on the counting model, with a lease of seconds, merges and checkpoints all the
/// time. Faults come through the environment (core/base/fault_injection.h). One thread.
class StormRun {
public:
    /// Makes text and run below `folder`.
    static Result<StormRun> make(const std::filesystem::path& folder, std::uint64_t seed);

    const RunPaths& paths() const { return paths_; }
    std::filesystem::path diskFullFile() const { return folder_ / "disk-is-full"; }

    /// Starts the run again, as a person would with `furrowctl resume`; a finished one gets one epoch more.
    Status resume(const std::map<std::string, std::string>& faults = {});
    void setWorkers(int workers) { workers_ = workers; }
    int workers() const { return workers_; }
    void setWallOffset(std::int64_t seconds) { wallOffsetSeconds_ = seconds; }
    /// Without this a finished run is extended at the next resume.
    void setLastEpoch() { extend_ = false; }

    bool isHeld() const;
    RunState state() const;
    /// Processes of the run that are alive now.
    std::vector<ProcessIdentity> workersAlive() const; ///< the task that merges is one of them
    std::optional<ProcessIdentity> supervisorAlive() const;
    std::optional<ProcessIdentity> feederAlive() const;
    void killEverything() const;
    /// Grows with everything that happens in the ledger.
    std::int64_t events() const;
    int resumes() const { return resumes_; }

private:
    StormRun(std::filesystem::path folder, RunPaths paths, RunConfig config);

    std::filesystem::path folder_;
    RunPaths paths_;
    RunConfig config_;
    int workers_ = 4;
    std::int64_t wallOffsetSeconds_ = 0;
    bool extend_ = true;
    int resumes_ = 0;
};

} // namespace furrow
