#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"

namespace furrow {

/// InvalidArgument when a name in the run folder that Furrow writes or deletes below is a link: whoever sent the folder
/// chose where it leads. The run folder itself may be reached through links, and what is only read may be one. Also
/// when something else stands in the place of a folder that a run keeps.
Status refuseLinks(const RunPaths& paths);

/// InvalidArgument when the tracker or a log of the run has a second name elsewhere: what a resume writes there would
/// change the run of that name too. Nothing is changed. Before a resume only: a run in training goes on, whoever makes
/// hard links to its files.
Status refuseSecondNames(const RunPaths& paths);

} // namespace furrow
