#pragma once

#include "core/base/clock.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

/// Finds workers that stand still (SIGSTOP, Ctrl+Z) while others wait for them: at a merge, in a step that all take
/// together, for the last chunks of an epoch, or for the end of the run; and a feeder that does. By its lease alone
/// such a worker would keep the others waiting for a minute, and a feeder, which has none, for ever. Finds none where
/// the system does not tell. One thread.
class Standstill {
public:
    Standstill(SupervisorLedger& ledger, LedgerReader& reader, bool trainTogether, const Clock& clock);
    /// Those that have stood still for 0.7 s, from before others waited or since, and are waited for. Looks ten times a
    /// second, however often it is called.
    Result<std::vector<SupervisorLedger::Expired>> overdue();
    /// The same of the feeder, which is waited for when no chunk can be claimed and more are to come.
    Result<bool> isOverdue(const ProcessIdentity& feeder);

private:
    Result<std::vector<SupervisorLedger::Expired>> ofThoseAwaited(
        std::vector<SupervisorLedger::Expired> still, bool isAnybodyWell);

    SupervisorLedger& ledger_;
    LedgerReader& reader_;
    bool trainTogether_;
    const Clock& clock_;
    std::int64_t nextLookNs_ = 0;
    std::map<std::int64_t, std::int64_t> since_; ///< by incarnation [ns]
    std::int64_t feederSinceNs_ = 0; ///< 0: it goes on
};

} // namespace furrow
