#pragma once

#include "core/base/fault_injection.h"

namespace furrow {

/// How long a process of a run that was asked to end waits for a disk to save on [s].
inline double endPatienceSeconds() { return faultNumber("FURROW_END_PATIENCE_S", 60); }

} // namespace furrow
