#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/telemetry/export.h"

#include <string>

namespace furrow {

/// exportTelemetry() with what the ledger knows: chunks by name, and which steps and evaluations are lost. @return the
/// number of records
Result<std::int64_t> exportMeasured(const RunPaths& paths, MeasuredFormat format, const std::filesystem::path& out);

} // namespace furrow
