#pragma once

#include "ui/models/past_sources.h"

#include <cstdint>

namespace furrow {

/// The newest of weights that were there, as readStatus() has it: of processes and checkpoints as they were.
void takeEvaluationsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

} // namespace furrow
