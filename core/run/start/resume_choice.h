#pragma once

#include "core/run/start/rate_plan.h"
#include "core/tracker/types.h"

#include <optional>

namespace furrow {

/// What a person decided about the weights and the learning rate that an attempt goes on from.
struct ResumeChoice {
    std::optional<CheckpointId> goBackTo {}; ///< what is newer leaves the lineage and its chunks are trained again;
                                             ///< nothing: the newest of each replica
    /// Checkpoints that are damaged or cannot be read when the attempt begins may be left behind, for older ones or for
    /// the start weights, and those that an older tracker does not know may be put aside. Without this yes the attempt
    /// ends and changes nothing. What is lost later needs another yes.
    bool acceptLoss = false;
    std::optional<RateChoice> rate {}; ///< nothing: smooth where the settings ask for another schedule, else as planned
};

} // namespace furrow
