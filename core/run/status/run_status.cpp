#include "core/run/status/run_status.h"

#include "core/base/clock.h"

namespace furrow {

std::int64_t nowOfRun(const RunStatus& status) { return systemClock().wallNs() - status.clockAheadNs; }

bool isAnyAlive(const RunStatus& status) { return isAnyAlive(status.workers); }

double meanTokensPerSecond(const RunStatus& status)
{
    return status.activeSeconds > 0 ? static_cast<double>(status.tokens) / status.activeSeconds : 0;
}

} // namespace furrow
