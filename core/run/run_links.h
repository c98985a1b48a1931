#pragma once

#include "core/base/result.h"
#include "core/run/run_paths.h"

namespace furrow {

/// InvalidArgument when a name in the run folder that Furrow writes or deletes below is a link: whoever sent the folder chose where it leads. The run
/// folder itself may be reached through links, and what is only read may be one.
Status refuseLinks(const RunPaths& paths);

} // namespace furrow
