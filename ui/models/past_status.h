#pragma once

#include "ui/bridge/run_feed.h"

#include <cstdint>
#include <vector>

namespace furrow {

class Workbench;

/// Where a past status comes from.
struct PastSources {
    const RunStatus& now;
    std::int64_t epoch = 0; ///< whose chunks `cells` are
    const std::vector<ChunkCell>& cells; ///< at the moment (Replay::cellsAt)
    const std::vector<ClaimRow>& claims;
    const LedgerTables* tables = nullptr; ///< null: not read yet
    const TelemetrySnapshot* telemetry = nullptr; ///< up to the moment; null: none
};

/// The status of the run as it was at a moment [ns since 1970], of the epoch that is shown: chunks from the moves of
/// the ledger, steps and samples from the claims that are in weights today, losses and speeds from the telemetry. What
/// nobody kept (why an epoch stayed open, what the feeder had read) is left empty.
RunStatus statusAt(std::int64_t wallNs, const PastSources& sources);

/// What views of the epoch show: the present, or the moment that is replayed. Null: nothing was read yet.
StatusPtr shownStatus(Workbench& bench);

} // namespace furrow
