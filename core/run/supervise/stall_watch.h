#pragma once

#include "core/base/message.h"
#include "core/base/clock.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// Who holds a lock that is waited for, and since when. One thread.
class HeldLock {
public:
    /// Process `pid` was seen with it after a wait of `waited`.
    /// @return how long others had it before, in this wait [s]
    double heldByOthers(std::int64_t pid, std::chrono::milliseconds waited);

private:
    std::int64_t pid_ = 0;
    std::chrono::milliseconds since_ {}; ///< of the wait
    std::chrono::milliseconds waited_ {};
};

/// What the supervisor does while it waits for the lock of the tracker, without that lock. A process of the run that
/// stands still with it is ended; a stranger (a backup tool, a transaction by hand) is named in the log and outlasted.
/// Afterwards workers get the time back in which they could not renew their leases. One thread.
class StallWatch {
public:
    /// `reader` is another connection than the one that waits, and outlives this.
    StallWatch(RunPaths paths, LedgerReader& reader, const Clock& clock);

    /// A write waits for so long already; called about ten times a second.
    void whileWaiting(std::chrono::milliseconds waited);
    /// A heartbeat was written; called each second. A longer pause was a stall: of the tracker, or of this very
    /// process.
    void onTurn();
    /// What is added to a lease that was renewed at this monotonic time [s].
    double forgivenSeconds(std::int64_t renewedNs) const;
    /// Ends a feeder that is waited for.
    void endFeeder(const ProcessIdentity& feeder, const Message& cause);
    /// The supervisor is about to end that process for another reason than a lock.
    void note(const ProcessIdentity& process, const Message& cause);
    /// Why the supervisor has ended that process, and that it was the supervisor; nothing: it was not.
    std::optional<Message> whyEnded(const ProcessIdentity& process) const;
    /// Whether somebody had stopped the process that the supervisor ended.
    bool wasStopped(const ProcessIdentity& process) const;

private:
    struct Own { // a process of this run
        std::string name;
        ProcessIdentity process;
        double overdueSeconds = 0; // of its lease
    };
    std::vector<Own> ownProcesses(std::chrono::milliseconds waited);
    void judge(const LockHolder& writer, std::chrono::milliseconds waited);
    void endLongestOverdue(std::chrono::milliseconds waited);
    void end(const Own& own, const Message& cause);

    struct EndByUs {
        ProcessIdentity process;
        Message cause;
        bool wasStopped = false; ///< by somebody else, until then
    };
    const EndByUs* endOf(const ProcessIdentity& process) const;

    struct Stall {
        std::int64_t endNs = 0;
        std::int64_t lengthNs = 0;
    };

    // set in the constructor, then constant
    RunPaths paths_;
    LedgerReader& reader_;
    const Clock& clock_;

    HeldLock lock_;
    std::int64_t stoppedPid_ = 0; ///< who was seen stopped with the lock
    std::int64_t stoppedSinceNs_ = 0;
    std::int64_t saidOfPid_ = -1; ///< the stranger that the log names already
    std::int64_t nextEndNs_ = 0;
    std::int64_t lastTurnNs_ = 0; ///< 0: none yet
    std::vector<Stall> stalls_; ///< the newest few
    std::map<std::int64_t, EndByUs> ended_; ///< by pid
};

} // namespace furrow
