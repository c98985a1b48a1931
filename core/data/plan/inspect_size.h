#pragma once

#include "core/config/run_config.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/file_access.h"

#include <cstddef>
#include <functional>

namespace furrow {

/// Fills rows, and how exact they are.
Status countAllRows(DirectAccess& access, const DataManifest& manifest, const RunConfig& config,
    DataInspection& inspection, const std::function<bool(double)>& progress);

/// Fills samplesPerBlock, blocks and chunks by the rule for small data: at least three blocks, a block no smaller than
/// a chunk where that is possible.
void chooseBlockSize(const RunConfig& config, std::size_t sources, DataInspection& inspection);

} // namespace furrow
