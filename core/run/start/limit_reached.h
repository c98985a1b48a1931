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

} // namespace furrow
