#pragma once

#include "core/run/audit/repair.h"
#include "core/run/audit/untrained_chunks.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/run_file.h"

#include <map>
#include <utility>

namespace furrow {

// Internal to the repair.

using Say = std::function<void(const std::string&)>;
/// Of checkpoints that were read, by folder and manifest.
using WeightsVerdicts = std::map<std::pair<std::string, std::string>, WeightsVerdict>;

/// What a repair has read already of what costs minutes to read.
struct RepairReadings {
    WeightsVerdicts weights;
    BlocksRead blocks;
};

/// Makes a tracker under another name from what the run folder proves, and audits it; it is not put in its place.
/// @param report  gets what it was made from, and what it knows
/// @param readings  are not made again, and get those that are made for it
Status makeNewTracker(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target,
    RepairReport& report, RepairReadings& readings, const Say& say);

} // namespace furrow
