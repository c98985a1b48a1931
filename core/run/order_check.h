#pragma once

#include "core/run/run_file.h"
#include "core/run/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

/// Of what a new tracker is made with, that by which chunks are given out and their tokens counted.
TrackerConfig orderConfig(const RunConfig& config);

/// Compares what the tracker gives chunks out by with run.json, which checkFrozen holds against the tracker's record.
/// InvalidArgument names what was changed; nothing may be claimed or trained then.
Status checkOrder(const RunPaths& paths, const RunFile& file);

} // namespace furrow
