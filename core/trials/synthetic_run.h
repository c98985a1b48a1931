#pragma once

#include "core/base/result.h"
#include "core/trials/synthetic.h"

#include <filesystem>

namespace furrow {

/// Makes a run folder with an invented past: the bundled text in blocks, and workers that claim, finish, lose and
/// commit its chunks through the same calls as the engine, by a clock of their own, with telemetry of the same steps.
/// No model is trained: the weights are a few bytes, and the end of the run says so. It can be watched and audited, not
/// resumed. Chunks are as many steps as `run.steps` needs, so that there are some thousand at most. Of `run` the times
/// and sizes of chunks and steps are its own.
/// @param folder  absent or empty
Result<SyntheticTotals> writeSyntheticRun(const std::filesystem::path& folder, const SyntheticRun& run);

} // namespace furrow
