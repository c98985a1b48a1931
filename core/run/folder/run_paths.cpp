#include "core/run/folder/run_paths.h"

#include "core/base/absolute_path.h"

namespace furrow {

std::filesystem::path cacheOfWorkspace(const std::filesystem::path& workspace) { return workspace / "cache"; }

std::filesystem::path frozenFileIn(const std::filesystem::path& checkpointsFolder, const std::string& sha256)
{
    return checkpointsFolder / "frozen" / (sha256 + ".safetensors");
}

RunPaths::RunPaths(std::filesystem::path folder)
    : folder_(std::move(folder))
{
    if (!folder_.has_filename()) // "run/" and "run" are one run
        folder_ = folder_.parent_path();
}

bool RunPaths::isBesideCheckpoints(const std::filesystem::path& entry) const
{
    return entry == removedManifestsFolder() || entry == unknownCheckpointsFolder() || entry == writingNotesFolder()
        || entry == frozenFolder() || entry.filename() == "lost+found"; // of a file system of its own
}

std::filesystem::path RunPaths::feederTelemetry(std::int64_t attempt) const
{
    return telemetryFolder() / (std::to_string(attempt) + "-feeder.jsonl");
}

std::filesystem::path RunPaths::telemetryFile(std::int64_t attempt, int worker) const
{
    return telemetryFolder()
        / (std::to_string(attempt) + (worker < 0 ? "-task" : "-w" + std::to_string(worker)) + ".jsonl");
}

std::filesystem::path RunPaths::logFile(std::int64_t attempt, const std::string& process) const
{
    return logsFolder() / (std::to_string(attempt) + "-" + process + ".log");
}

std::filesystem::path RunPaths::cacheFolder() const
{
    const auto absolute = absolutePath(folder_);
    if (absolute.parent_path().filename() == "runs")
        return cacheOfWorkspace(absolute.parent_path().parent_path());
    return folder_ / "cache";
}

} // namespace furrow
