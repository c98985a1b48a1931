#include "core/run/status/run_status.h"

#include "core/base/clock.h"

namespace furrow {

std::int64_t nowOfRun(const RunStatus& status) { return systemClock().wallNs() - status.clockAheadNs; }

bool isAnyAlive(const RunStatus& status) { return isAnyAlive(status.workers); }

bool hasComeToItsEnd(const RunStatus& status) { return status.state == RunState::Finished && !status.markedByHand; }

Message saidOfItsEnd(const RunStatus& status) { return hasComeToItsEnd(status) ? status.stopDetail : Message(); }

double meanTokensPerSecond(const RunStatus& status)
{
    return status.activeSeconds > 0 ? static_cast<double>(status.tokens) / status.activeSeconds : 0;
}

} // namespace furrow
