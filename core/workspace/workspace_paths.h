#pragma once

#include <filesystem>

namespace furrow {

/// What a workspace keeps beside library.sqlite, queue.lock (workspace_file.h) and its cache (run_paths.h).
inline std::filesystem::path runsOf(const std::filesystem::path& workspace) { return workspace / "runs"; }
inline std::filesystem::path trashOf(const std::filesystem::path& workspace) { return workspace / "trash"; }

/// Held by who shortens the WAL of the library.
inline std::filesystem::path libraryLock(const std::filesystem::path& workspace) { return workspace / "library.lock"; }

/// What the process that runs the queue says.
inline std::filesystem::path queueLog(const std::filesystem::path& workspace) { return workspace / "queue.log"; }

} // namespace furrow
