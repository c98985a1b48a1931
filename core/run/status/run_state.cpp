#include "core/run/status/run_state.h"

namespace furrow {

std::string toString(RunState state)
{
    switch (state) {
    case RunState::New: return "new";
    case RunState::Running: return "running";
    case RunState::Pausing: return "pausing";
    case RunState::Paused: return "paused";
    case RunState::Stopping: return "stopping";
    case RunState::Stopped: return "stopped";
    case RunState::Interrupted: return "interrupted";
    case RunState::Failed: return "failed";
    case RunState::Finished: return "finished";
    case RunState::Unknown: break;
    }
    return "unknown";
}

bool isUnderWay(RunState state) { return state == RunState::Running || isPause(state) || state == RunState::Stopping; }

bool isPause(RunState state) { return state == RunState::Pausing || state == RunState::Paused; }

RunState stateAfter(StopReason reason)
{
    switch (reason) {
    case StopReason::User: return RunState::Stopped;
    case StopReason::Error:
    case StopReason::Incomplete: return RunState::Failed;
    case StopReason::Interrupted: return RunState::Interrupted;
    default: return RunState::Finished;
    }
}

} // namespace furrow
