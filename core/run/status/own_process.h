#pragma once

#include "core/base/process.h"
#include "core/run/folder/run_paths.h"

namespace furrow {

/// A process that lives and was started by Furrow for this run. A tracker may come from anywhere, and name any process
/// of this user as a worker: what is ended by its word is asked first. True where the system does not tell how a
/// process was started.
bool isOwnProcess(const RunPaths& paths, const ProcessIdentity& process);

/// A process that lives and was started by Furrow for another folder: that of the run of which this one is a copy.
bool isOfAnotherFolder(const RunPaths& paths, const ProcessIdentity& process);

/// Kills it with all that it started when it is one; else nothing happens, and the log says so.
void killOwnProcess(const RunPaths& paths, const ProcessIdentity& process);

} // namespace furrow
