#pragma once

#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"

#include <vector>

namespace furrow {

/// What keeps a living run from going on; the first is the one to show where there is room for one sentence.
/// @param status  with its workers and what is known of its supervisor
/// @param silentSeconds  since the last heartbeat
std::vector<Hindrance> whatHinders(const RunStatus& status, const RunPaths& paths, double silentSeconds);

} // namespace furrow
