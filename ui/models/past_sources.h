#pragma once

#include "ui/bridge/run_feed.h"
#include "ui/models/replay.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// Where a past status comes from.
struct PastSources {
    const RunStatus& now;
    struct Epoch {
        std::int64_t epoch = 0;
        std::vector<ChunkCell> cells; ///< at the moment (Replay::cellsOf)
    };
    std::vector<Epoch> epochs; ///< that were open then, else the newest
    const std::vector<Replay::Left>& left; ///< when checkpoints left the weights
    const std::vector<ClaimRow>& claims;
    const LedgerTables* tables = nullptr; ///< null: not read yet
    const TelemetrySnapshot* telemetry = nullptr; ///< up to the moment; null: none
    bool isPaused = false; ///< a person wished a pause then
};

} // namespace furrow
