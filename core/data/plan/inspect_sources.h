#pragma once

#include "core/config/run_config.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/data_manifest.h"

#include <functional>
#include <string>

namespace furrow {

/// Opens the files of one source, finds their formats, and leaves out what is no text (an error for a single file).
Result<DataSource> describeSource(
    const std::string& spec, const RunConfig& config, const std::function<bool(double)>& progress);

/// Shortens `skipped`: what is left out of a folder may be as many files as it has.
void nameSomeOfTheSkipped(DataSource& source);

/// Fills reading: how files are read, once for each way in which some of the source are.
void describeReading(const DataSource& source, DataInspection& inspection);

} // namespace furrow
