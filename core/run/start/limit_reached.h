#pragma once

#include "core/base/message.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"

namespace furrow {

/// The limit of `wanted` that is reached where a resume goes on from, so that the attempt would end at once; None:
/// there is something to train.
/// @param status  of the run that nobody trains
/// @param from  null: the newest checkpoint of each replica
StopReason limitReached(
    const RunStatus& status, const ResumePlan& plan, const RunConfig& wanted, const ResumePlan::CheckpointChoice* from);

/// What a person reads of that; "" for None.
Message limitInWords(StopReason limit, const RunStatus& status, const RunConfig& wanted);

/// As many epochs as `wanted` has are complete, and a later one is open: it would be left as it is, and the run be
/// finished.
bool leavesEpochOpen(const RunStatus& status, const RunConfig& wanted);

/// Refuses what would end at once: the attempt of a run that has come to its end, or was stopped in a later epoch than
/// `wanted` has, and of which `wanted` leaves nothing to train.
Status refuseNothingLeft(
    const RunStatus& status, const ResumePlan& plan, const RunConfig& wanted, const ResumePlan::CheckpointChoice* from);

} // namespace furrow
