#pragma once

#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/base/result.h"
#include "core/run/supervise/stall_watch.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

/// Kills processes of workers that no lease ends: those that stand still before they are registered, and those that
/// have given everything back and do not exit. One thread.
class StuckProcesses {
public:
    /// @param ends  is told of each process that this is about to end
    StuckProcesses(SupervisorLedger& ledger, LedgerReader& reader, StallWatch& ends, const Clock& clock)
        : ledger_(ledger)
        , reader_(reader)
        , ends_(ends)
        , clock_(clock)
    {
    }

    /// To be called each second. @param processes  that the attempt has started and that live
    Status end(const std::vector<ProcessIdentity>& processes, AttemptId attempt, bool isStopping);

private:
    Status endLingering(std::vector<ProcessIdentity> processes, AttemptId attempt);
    Status endStuckStarts(std::vector<ProcessIdentity> still, bool isStopping);

    SupervisorLedger& ledger_;
    LedgerReader& reader_;
    StallWatch& ends_;
    const Clock& clock_;
    std::map<std::int64_t, std::int64_t>
        lingering_; ///< incarnation that ended while its process lives -> when that was seen [ns]
    std::map<std::int64_t, std::int64_t> stuckSince_; ///< pid of an unregistered worker that stands still -> since [ns]
};

} // namespace furrow
