#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"

namespace furrow {

/// For whoever is about to write into the folder of a run from outside of its processes, before the first byte. What is
/// made there from then on, the users who share the folder may write too (shareBelow). InvalidArgument: what root makes
/// there its owner could not (refuseRootInFolderOf).
Status beforeWritingInto(const RunPaths& paths);

} // namespace furrow
