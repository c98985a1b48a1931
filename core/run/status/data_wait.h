#pragma once

#include "core/run/status/run_status.h"

namespace furrow {

/// No chunk of an open epoch can be claimed and none is in training: what comes next must be prepared first.
bool isNothingToTrain(const std::vector<EpochRow>& epochs);

/// Of a run whose feeder cannot reach the data, by what it says in `status.reading`: fills RunStatus::dataWait, says it
/// first of all the evidence, and what hinders the run where nothing else does and nothing can be trained meanwhile.
void sayThatItWaitsForData(RunStatus& status);

} // namespace furrow
