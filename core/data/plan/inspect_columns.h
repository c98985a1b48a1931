#pragma once

#include "core/config/run_config.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/file_access.h"

namespace furrow {

/// One column for all files of a source; a file without it is refused by name.
Status chooseColumn(
    FileAccess& access, const RunConfig& config, bool hasTemplate, DataSource& source, DataInspection& inspection);

} // namespace furrow
