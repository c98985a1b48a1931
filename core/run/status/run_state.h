#pragma once

#include "core/tracker/types.h"

#include <string>

namespace furrow {

/// Never stored: derived from processes, heartbeats and exit records each time it is asked.
/// Paused: its processes are there and wait. Stopped: a person ended it, in order or by a kill.
enum class RunState { New, Running, Paused, Stopping, Stopped, Interrupted, Failed, Finished, Unknown };
std::string toString(RunState state); ///< "new" "running" ...
RunState stateAfter(StopReason reason); ///< of a run whose newest attempt ended so, when nobody trains it

} // namespace furrow
