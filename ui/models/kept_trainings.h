#pragma once

#include "core/telemetry/snapshot.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/lost_causes.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// What the trainings of one chunk that are not lost gave together: a chunk may be trained in parts, by several
/// workers. Of a training that died, or that the run went back behind, the part that a checkpoint has is one of them.
struct KeptTrainings {
    int parts = 0;
    int saved = 0; ///< of them, that a checkpoint has
    bool isCounted = true; ///< whether tokens and losses are known of all parts: the ledger has none of a training that
                           ///< died, and its telemetry may be gone
    bool isCut = false; ///< one of them is a part of a training; its samples are counted in proportion
    std::vector<int> workers; ///< who trained them, each once
    LostCauses lost; ///< trainings, why their weights are gone
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    double lossSum = 0; ///< nats
    double peakGradientNorm = 0;
    std::int64_t beganNs = 0;
    std::int64_t endedNs = 0;
    std::int64_t checkpoint = 0; ///< newest
};

/// @param history  the trainings of the chunk, oldest first
/// @param cell  null: of an epoch that is not shown
/// @param telemetry  null: not read yet
KeptTrainings keptTrainings(
    const std::vector<ClaimRow>& history, const ChunkCell* cell, const TelemetrySnapshot* telemetry);

/// The steps of those parts, and of the training that goes on, oldest first; neighbours in one interval. Where nothing
/// of the chunk is kept, those of its newest training.
std::vector<TelemetrySnapshot::Interval> keptSteps(
    const TelemetrySnapshot& telemetry, ChunkId chunk, const std::vector<ClaimRow>& history);

} // namespace furrow
