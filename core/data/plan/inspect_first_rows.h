#pragma once

#include "core/config/run_config.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/data_manifest.h"

namespace furrow {

/// Fills firstRows. A data set of which the first conversations are all refused is refused with the reason.
Status readFirstRows(const RunConfig& config, const DataManifest& manifest, DataInspection& inspection);

} // namespace furrow
