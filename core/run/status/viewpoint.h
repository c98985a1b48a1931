#pragma once

#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <optional>
#include <string>

namespace furrow {

/// From where the run is looked at.
struct Viewpoint {
    RunPaths paths;
    std::string elsewhere; ///< why the run may be trained by another computer, whose processes cannot be asked; "": it
                           ///< is this one, or nobody trains it
    std::int64_t nowNs = 0; ///< monotonic, of the computer that trains
    std::int64_t clockAheadNs = 0; ///< of the clock here; 0: it agrees with that of the run
    bool isOfSnapshot = false; ///< the ledger is an older snapshot: from the age of its heartbeats nothing follows
    std::int64_t silentNs = 0; ///< elsewhere: since the run wrote anything
    bool held = false; ///< somebody has the lock of the run
    bool supervised = false; ///< it is the supervisor that the ledger names, seen from here or not
    std::int64_t supervisorPid = 0; ///< as it is seen from here; 0: it is not
    /// A supervisor ends the lives of its workers in the ledger: where they cannot be seen they are as it says.
    bool isAlive(const IncarnationRow& row) const;
    bool standsStill(const ProcessIdentity& process) const;
    /// The run was trained by another computer and has been silent for too long to be trained still.
    bool isSilent() const { return silentNs >= kSilenceNs; }

private:
    static constexpr std::int64_t kSilenceNs = 60'000'000'000;
};

/// @param attempt  the newest
Viewpoint viewpointOf(
    const RunPaths& paths, const LedgerReader::Totals& totals, const std::optional<AttemptRow>& attempt);

} // namespace furrow
