#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <vector>

namespace furrow {

/// Why a folder cannot go to the trash of this workspace: somebody trains it, it waits in the queue, it lies elsewhere,
/// it is no run.
Status checkTrashable(const std::filesystem::path& workspace, const std::filesystem::path& run);
/// Moves a run folder of this workspace (`runFolders`) that nobody trains into <workspace>/trash. Nothing is deleted.
/// Returns where it is now. Refused where it belongs to another user, as to bring it back is.
Result<std::filesystem::path> moveToTrash(const std::filesystem::path& workspace, const std::filesystem::path& run);
/// Moves it back to where it was: <workspace>/runs, or the workspace itself.
Result<std::filesystem::path> restoreFromTrash(
    const std::filesystem::path& workspace, const std::filesystem::path& trashed);
/// Run folders in the trash.
std::vector<std::filesystem::path> trashedRuns(const std::filesystem::path& workspace);

} // namespace furrow
