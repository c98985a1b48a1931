#pragma once

#include "core/config/run_config.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/data_manifest.h"

namespace furrow {

/// Names the files that are in the data twice: their rows are trained twice in each epoch, which nobody may want, or
/// are all left out as repeats.
void warnOfRepeats(const DataManifest& manifest, DataInspection& inspection);

/// Refuses such files where training is private: the ledger counts how often a row of a file took part, and cannot know
/// that two of them are one.
Status refuseRepeatsInPrivate(const RunConfig& config, const DataManifest& manifest);

} // namespace furrow
