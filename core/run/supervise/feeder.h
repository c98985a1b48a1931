#pragma once

#include "core/base/process.h"
#include "core/base/result.h"
#include "core/data/block_manager.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/feeder_ledger.h"

namespace furrow {

/// Prepares the blocks of a run until asked to stop: plans them in source order, tells the ledger, prepares those that
/// will be claimed next, keeps prepared ones pinned in the cache while they are needed. Runs in a process of its own.
/// A source that cannot be reached pauses it; a block that cannot be prepared twice is named in the ledger.
Status runFeeder(const RunPaths& paths, const StopRequest& stop);

} // namespace furrow
