#pragma once

#include "core/tracker/audit/audit_claims.h"
#include "core/tracker/audit/audit_epochs.h"
#include "core/tracker/audit/audit_history.h"
#include "core/tracker/audit/audit_tallies.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/window_ranges.h"

#include <set>
#include <unordered_map>
#include <vector>

namespace furrow {

/// What one pass of an audit leaves to those behind it. Internal to the audit.
struct AuditGathered {
    AuditGathered(Database& db, AuditReport& report, AuditFindings& findings)
        : epochs(db, report, findings)
        , processes(knownProcesses(db))
        , windowTokens(windowTokensOf(db))
    {
    }

    AuditEpochs epochs;
    const KnownProcesses processes;
    const std::int64_t windowTokens; ///< see tokensIn()
    AuditTallies tallies;
    AuditParts parts;
    std::vector<NamedChunk> named; ///< by id
    std::set<std::int64_t> surviving; ///< checkpoints
    std::unordered_map<std::int64_t, WindowRanges> held; ///< by chunk that somebody holds: its windows in living parts
    std::int64_t newestClaim = 0; ///< that a chunk speaks of
};

} // namespace furrow
