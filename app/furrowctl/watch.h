#pragma once

#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"

#include <string>

namespace furrow::ctl {

/// Shows a running run in the terminal until it ends; the first Ctrl+C (or SIGTERM) asks it to stop after a checkpoint,
/// the second kills it, the third leaves it alone. Without a terminal it prints a line every few seconds, with `json` a
/// status object.
/// @return exit code: 0 finished, 1 failed or interrupted, 130 stopped by the user
int watchRun(const RunPaths& paths, bool json);

/// A share of 0..1 as a bar of blocks.
std::string bar(double share);

/// Several lines for people.
std::string statusText(const RunStatus& status);

} // namespace furrow::ctl
