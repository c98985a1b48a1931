#pragma once

#include "core/base/message.h"
#include "core/config/run_config.h"

#include <string>

namespace furrow {

/// A sentence to warn by when a run ends before its learning rate has risen to its peak; "": it does not, or how long
/// it is is not known. Nothing is refused: a few steps with the settings of a long run are a common trial.
/// @param workers  that train the run; each warms up by its own steps
/// @param tokensOfEpochs  labels of all epochs together; 0: not known
Message warmUpWarning(const RunConfig& config, std::int64_t workers, double tokensOfEpochs = 0);

} // namespace furrow
