#pragma once

#include "core/base/message.h"
#include "core/base/process.h"
#include "core/config/run_config.h"
#include "core/run/folder/run_paths.h"
#include "core/run/start/resume_choice.h"

namespace furrow {

/// Runs one attempt from start to end in this process: recovers what the last one left, starts feeder and workers, sees
/// deaths and hung workers, advances epochs, opens merge rounds, applies the keep policy. Returns when the attempt is
/// over. Busy when another supervisor holds the run; the message says which. When newest weights turn out damaged or
/// cannot be read and the choice does not accept the loss, the workers stop after a checkpoint and the attempt ends
/// with a sentence.
Status runSupervisor(
    const RunPaths& paths, const RunConfig& wanted, const StopRequest& stop, const ResumeChoice& choice = {});

} // namespace furrow
