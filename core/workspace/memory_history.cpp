#include "core/workspace/memory_history.h"

#include "core/run/folder/memory_file.h"
#include "core/workspace/workspace_paths.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kNewestRuns = 50;

} // namespace

std::vector<MeasuredMemory> memoryHistory(const std::filesystem::path& workspace)
{
    namespace fs = std::filesystem;
    std::vector<std::pair<fs::file_time_type, fs::path>> folders;
    std::error_code failed;
    for (const auto& run : fs::directory_iterator(runsOf(workspace), failed)) {
        const fs::path folder = RunPaths(run.path()).memoryFolder();
        const auto written = fs::last_write_time(folder, failed);
        if (!failed)
            folders.emplace_back(written, folder);
    }
    const auto end = folders.begin() + static_cast<std::ptrdiff_t>(std::min(kNewestRuns, folders.size()));
    std::partial_sort(folders.begin(), end, folders.end(), std::greater<>());
    std::vector<MeasuredMemory> history;
    for (auto folder = folders.begin(); folder != end; ++folder)
        for (const auto& file : fs::directory_iterator(folder->second, failed))
            if (auto measured = file.path().extension() == ".json" ? readMemory(file.path()) : std::nullopt)
                history.push_back(std::move(*measured));
    return history;
}

} // namespace furrow
