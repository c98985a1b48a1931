#pragma once

#include "core/base/process.h"
#include "core/run/run_paths.h"

namespace furrow {

/// From now on this process, the feeder, does not fall silent while the hub cannot be reached: between two tries it says why it
/// waits in the ledger, once a second, and it gives up when asked to stop, which must outlive every request to the hub.
Status waitForTheHubAloud(const RunPaths& paths, const StopRequest& stop);

} // namespace furrow
