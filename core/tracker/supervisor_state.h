#pragma once

#include "core/tracker/epochs.h"

#include <chrono>

namespace furrow {

struct SupervisorLedger::State {
    LedgerFile file;
    Patience patience {}; ///< of the connection
    std::chrono::milliseconds waiting {}; ///< of the write that waits for the lock of the tracker, or did last
    std::chrono::milliseconds locked {}; ///< that others held that lock since the newest heartbeat
};

} // namespace furrow
