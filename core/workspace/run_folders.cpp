#include "core/workspace/run_folders.h"

#include "core/run/folder/run_paths.h"

#include <algorithm>

namespace furrow {

std::vector<std::filesystem::path> runFolders(const std::filesystem::path& workspace)
{
    std::vector<std::filesystem::path> folders;
    std::error_code failed;
    for (const auto& parent : { workspace / "runs", workspace }) // a folder of runs may be looked at too
        for (const auto& entry : std::filesystem::directory_iterator(parent, failed))
            if (std::filesystem::exists(RunPaths(entry.path()).configFile(), failed) || failed) // of somebody else
                folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

} // namespace furrow
