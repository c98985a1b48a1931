#pragma once

#include "core/tracker/types.h"

#include <string>

namespace furrow {

/// Never stored: derived from processes, heartbeats and exit records each time it is asked.
/// Paused: its processes are there and wait. Stopped: a person ended it, in order or by a kill.
enum class RunState { New, Running, Pausing, Paused, Stopping, Stopped, Interrupted, Failed, Finished, Unknown };
std::string toString(RunState state); ///< "new" "running" ...
bool isUnderWay(RunState state); ///< an attempt goes on: running, pausing, paused or stopping
bool isPause(RunState state); ///< wished for: pausing or paused
RunState stateAfter(StopReason reason); ///< of a run whose newest attempt ended so, when nobody trains it

} // namespace furrow
