#include "core/workspace/run_folders.h"

#include "core/run/folder/run_paths.h"
#include "core/workspace/workspace_paths.h"

#include <algorithm>

namespace furrow {

namespace {

/// What a file system, a desktop or the workspace itself makes beside runs, by its name: nobody may look into it to see
/// that there is no run.
bool isNoRun(const std::filesystem::path& folder)
{
    const auto name = folder.filename();
    return name.native().starts_with(std::filesystem::path(".").native()) || name == "lost+found"
        || name == "System Volume Information" || name == "runs" || name == "cache" || name == "trash";
}

} // namespace

std::vector<std::filesystem::path> runFolders(const std::filesystem::path& workspace)
{
    std::vector<std::filesystem::path> folders;
    std::error_code failed;
    for (const auto& parent : { runsOf(workspace), workspace }) // a folder of runs may be looked at too
        for (const auto& entry : std::filesystem::directory_iterator(parent, failed)) {
            const bool isThere = std::filesystem::exists(RunPaths(entry.path()).configFile(), failed);
            if (isThere || (failed && !isNoRun(entry.path()))) // of somebody else
                folders.push_back(entry.path());
        }
    std::sort(folders.begin(), folders.end());
    return folders;
}

} // namespace furrow
