#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow {

/// What furrow-worker beside this program says when it is asked for its version: "furrow-worker 0.9". The error says
/// what to do where it is missing or does not find libtorch. Starts a process: a third of a second.
Result<std::string> workerVersion();

/// Whether training is possible here, before anything is begun. Asks once; what was good stays so.
Status requireWorker();

} // namespace furrow
