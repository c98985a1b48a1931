#pragma once

#include "core/run/run_paths.h"
#include "core/tracker/rebuild.h"

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// What a repair did, or why there was nothing to do.
struct RepairReport {
    bool needed = false;
    std::string damage; ///< what was wrong with the tracker
    std::string basis; ///< what the new one was made from
    std::filesystem::path damagedCopy; ///< the old file, kept
    Rebuilt rebuilt;
    std::vector<std::string> notes; ///< further sentences
    std::int64_t committed = 0; ///< chunks that are proven to be in the surviving weights
    std::int64_t known = 0;
};

/// "" when the tracker of a run is whole and the audit finds nothing; else what is wrong.
std::string trackerDamage(const RunPaths& paths);

/// Makes a damaged tracker anew from what the run folder still proves: the last published snapshot (view.sqlite), when that is whole, and the
/// manifests of all checkpoints. What nothing proves is trained again. The damaged file is kept beside it. Busy while the run trains.
Result<RepairReport> repairRun(const RunPaths& paths, const std::function<void(const std::string&)>& say);

} // namespace furrow
