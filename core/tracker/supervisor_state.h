#pragma once

#include "core/tracker/epochs.h"

namespace furrow {

struct SupervisorLedger::State {
    LedgerFile file;
};

} // namespace furrow
