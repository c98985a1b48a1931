#pragma once

#include "core/base/file_system.h"
#include "core/run/folder/run_paths.h"

#include <string>
#include <vector>

namespace furrow {

// While a process of the run writes a checkpoint, a file in checkpoints/writing/ has its name: from before the first
// byte until the tracker has its row. What a note names and no row does was never committed: it may be swept when that
// process is gone, and nothing else may.

/// Makes the folder of the notes. It is made when an attempt begins, never by a writer: where it is missing, the disk
/// of the checkpoints is away.
Status prepareNotes(const RunPaths& paths, FileSystem& files = realFileSystem());
/// Durable. Io or NotFound name the place.
Status noteWriting(const RunPaths& paths, const std::string& runId, const std::string& checkpoint,
    FileSystem& files = realFileSystem());
/// The row is there, or the files are gone. A note that stays is harmless.
void forgetWriting(const RunPaths& paths, const std::string& checkpoint, FileSystem& files = realFileSystem());
/// Names of the checkpoints that processes of this run were writing.
Result<std::vector<std::string>> writingNotes(const RunPaths& paths, const std::string& runId);

} // namespace furrow
