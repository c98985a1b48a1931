#pragma once

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/message.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <chrono>
#include <future>
#include <map>
#include <set>
#include <span>
#include <stop_token>

namespace furrow {

/// Removes checkpoints that nobody needs: kept are the newest `keepLast` of each replica, the best by evaluation, the
/// merges that kept ones grew from, pinned ones, and what is reached through a link. Of a line nothing older goes
/// before two newer ones were read and found whole; each is read once, one of each line at a time, on a thread of its
/// own. Rows stay, weights go, manifests move to checkpoints/removed/. What the system refuses to
/// remove stays too, is told (SupervisorLedger::keepNotRemoved) and tried again every ten minutes. One thread calls.
class KeepPolicy {
public:
    /// @param turn  how long apply() removes at most: the supervisor has more to do
    KeepPolicy(RunPaths paths, std::string runId, int keepLast, FileSystem& files = realFileSystem(),
        std::chrono::milliseconds turn = std::chrono::milliseconds(300), const Clock& clock = systemClock());
    ~KeepPolicy();
    KeepPolicy(const KeepPolicy&) = delete;
    KeepPolicy& operator=(const KeepPolicy&) = delete;

    /// Removes what may go by what was read so far, for one turn at most: the rest goes at the next call.
    /// Does not wait for a checkpoint to be read.
    Status apply(SupervisorLedger& ledger);
    /// Until everything that may go is gone, or for so long.
    Status finish(SupervisorLedger& ledger, std::chrono::milliseconds patience);

private:
    using Rows = std::vector<SupervisorLedger::CheckpointRow>;
    void keepNewest(const Rows& line, std::set<std::int64_t>& kept);
    std::set<std::int64_t> kept(const Rows& rows);
    void lookAt(Rows rows);
    void takeVerdict();
    Rows leaving(const Rows& rows);
    Status remove(SupervisorLedger& ledger, std::span<const SupervisorLedger::CheckpointRow> rows);
    Status tell(SupervisorLedger& ledger);

    RunPaths paths_;
    std::string runId_;
    FileSystem& files_; ///< what is removed goes through it
    std::size_t keepLast_;
    std::chrono::milliseconds turn_;
    std::map<std::int64_t, bool> isWhole_; ///< what was read in this attempt
    const Clock& clock_; ///< of when those that cannot go are tried again
    std::set<std::int64_t> cannotGo_; ///< the system refused to remove them, since tryAgainNs_ was set
    Message whyNot_; ///< of the first of them; "": all went
    std::int64_t tryAgainNs_ = 0; ///< monotonic
    bool isTold_ = false; ///< the ledger knows that some cannot go
    Rows wanted_; ///< to be read next, before something older may go; at most one of each line
    bool isMoreToRemove_ = false; ///< apply() had no time for all
    std::stop_source stop_;
    std::future<std::map<std::int64_t, Status>> looking_; ///< its thread reads files only
};

} // namespace furrow
