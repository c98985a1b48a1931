#pragma once

#include "core/base/random.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"
#include "core/trials/storm/storm_waits.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// The run that a storm goes over: the real programs on the counting model, with a lease of seconds, merges and
/// checkpoints all the time. Faults come through the environment (core/base/fault_injection.h). One thread.
class StormRun {
public:
    /// Makes text and run below `folder`.
    static Result<StormRun> make(const std::filesystem::path& folder, std::uint64_t seed);

    const RunPaths& paths() const { return paths_; }
    /// A file beside the run, for faults.
    std::filesystem::path faultFile(const std::string& name) const { return folder_ / name; }
    std::filesystem::path diskFullFile() const { return faultFile("disk-is-full"); }
    std::filesystem::path sqliteFaultFile() const { return faultFile("sqlite-fails"); }
    std::filesystem::path freezeFile() const { return faultFile("stands-still"); }
    /// Puts text into a file beside the run at once: nobody sees half of it.
    void put(const std::filesystem::path& file, const std::string& text) const;

    /// Starts the run again, as a person would: `furrowctl resume`, and where that refuses, the next step that it
    /// prints (an asked step). A finished run gets one epoch more.
    Status resume(const std::map<std::string, std::string>& faults = {}, std::optional<CheckpointId> goBackTo = {});
    /// The same without the next step: a run that ends because it needs one is an error too.
    Status resumePlainly(const std::map<std::string, std::string>& faults = {}, const ResumeChoice& choice = {});
    /// What every process of the run must be started with, whoever starts it.
    std::map<std::string, std::string> environment() const;
    void setWorkers(int workers) { workers_ = workers; }
    int workers() const { return workers_; }
    void setMerge(MergeMethod method) { merge_ = method; }
    MergeMethod merge() const { return merge_; }
    /// Whether the workers train one model, each step split over them. Then there are two at least.
    void setTogether(bool together) { together_ = together; }
    bool together() const { return together_; }
    /// Jumps the clocks that the processes of the run see, at once. The monotonic one only goes forward.
    void jumpClocks(std::int64_t wallSeconds, std::int64_t monotonicMoreSeconds);
    const JumpedClock& clock() const { return clock_; }
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
    std::int64_t checkpoints() const; ///< rows
    std::int64_t committed() const; ///< chunks, all epochs
    bool hasUndueDamage() const; ///< a checkpoint is marked as damaged that was never harmed
    AttemptId attempt() const; ///< the newest
    bool isEndRecorded() const; ///< of it
    /// "" when attempt `id` did not end, or not as failed; else one sentence.
    Message failureOf(AttemptId id) const;
    /// "" while attempt `id` goes on, and when the run is finished; else one sentence. Also an end that could not be
    /// recorded is one.
    std::string endOf(AttemptId id) const;
    int resumes() const { return resumes_; }
    int askedSteps() const { return askedSteps_; }
    /// What calls for a person from now on: these bytes were damaged; this tracker is older than its weights.
    void expectLossOf(const std::string& checkpoint) { damaged_.push_back(checkpoint); }
    /// Nobody need be asked about this file, which can be made again.
    void expectDamageOf(const std::string& file) { remade_.push_back(file); }
    /// Whether a sentence names something that was damaged on purpose.
    bool wasDamaged(const std::string& said) const;
    void expectOlderTracker() { olderTracker_ = true; }
    /// What was asked of a person although nothing called for it; "": nothing. Forgotten by this call.
    std::string takeUndueStep() { return std::exchange(undueStep_, {}); }

private:
    bool hasWorkersOf(AttemptId id) const;
    Status takeStep(const Message& said, ResumeChoice& choice);
    StormRun(std::filesystem::path folder, RunPaths paths, RunConfig config);

    std::filesystem::path folder_;
    RunPaths paths_;
    RunConfig config_;
    int workers_ = 4;
    MergeMethod merge_ = MergeMethod::Average;
    bool together_ = false;
    JumpedClock clock_;
    bool extend_ = true;
    int resumes_ = 0;
    int askedSteps_ = 0;
    std::vector<std::string> damaged_; ///< folders of checkpoints
    std::vector<std::string> remade_; ///< files of blocks
    bool olderTracker_ = false;
    std::string undueStep_;
};

} // namespace furrow
