#pragma once

#include "core/base/message.h"
#include "core/base/file_system.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/audit/rebuild.h"

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// What a repair did, or why there was nothing to do.
struct RepairReport {
    bool needed = false; ///< of the tracker
    bool older = false; ///< the tracker was whole and older than the weights; else it was damaged
    bool foreign = false; ///< the tracker was that of another run
    bool madeLive = false; ///< it was a whole copy that is not in WAL mode, and is now
    bool settingsSetAside = false; ///< those of the newest attempt, which no resume could use
    std::string damage; ///< what was wrong with the tracker
    std::string basis; ///< what the new one was made from
    std::filesystem::path oldCopy; ///< the old file, kept; empty: there was none
    Rebuilt rebuilt;
    std::vector<Message> notes; ///< further sentences
    std::vector<Message> problems; ///< what is still wrong: no repair of this kind mends it
    std::int64_t committed = 0; ///< chunks that are proven to be in the surviving weights
    std::int64_t known = 0;
};

/// Makes a damaged tracker anew, or takes one forward that is older than the weights, from what the run folder still
/// proves: the newest of tracker and published snapshot (view.sqlite) that is whole, and the manifests of all
/// checkpoints. What nothing proves is trained again. The old file is kept beside it, and checkpoints that could not be
/// taken in are put aside; so are prepared blocks that are damaged and settings of the newest attempt that no resume
/// can use, whether the tracker is damaged or not. A held-out text that is gone or damaged is made again from the data
/// (repairHeldOut()). Weights and prepared
/// blocks are read once. Busy while the run trains.
/// @param acceptLoss  without it a damaged tracker is not made anew where newest weights that it knew would be given
/// up, or where neither it nor the snapshot can say which those were. What is of another run is set aside without it
Result<RepairReport> repairRun(
    const RunPaths& paths, const std::function<void(const std::string&)>& say, bool acceptLoss = false);

} // namespace furrow
