#pragma once

#include "core/run/run_file.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// Of what a new tracker is made with, that by which chunks are given out and their tokens counted.
TrackerConfig orderConfig(const RunConfig& config);

/// Compares what the tracker gives chunks out by with run.json, which checkFrozen holds against the tracker's record.
/// InvalidArgument names what was changed; nothing may be claimed or trained then.
Status checkOrder(const RunFile& file, LedgerReader& reader);

} // namespace furrow
