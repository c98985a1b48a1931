#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace furrow {

/// furrow-worker beside this program, for whoever starts it. NotFound says what is missing, it or libtorch, and what to
/// do; a libtorch that is there but does not fit, only requireWorker() finds. Reads some names.
Result<std::filesystem::path> workerProgram();

/// What furrow-worker says when it is asked for its version: "furrow-worker 0.9". The error says what to do where it is
/// missing or does not find libtorch; Busy: it was killed or took too long. Starts a process: a third of a second.
Result<std::string> workerVersion();

/// Whether training is possible here, before anything is begun. Asks once; what was good stays so.
Status requireWorker();

} // namespace furrow
