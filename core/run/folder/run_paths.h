#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace furrow {

/// The cache shared by the runs of a workspace.
std::filesystem::path cacheOfWorkspace(const std::filesystem::path& workspace);

/// Where weights that training leaves alone lie, for any checkpoint in this folder of checkpoints: one file, named by
/// its hash, for all that name it.
std::filesystem::path frozenFileIn(const std::filesystem::path& checkpointsFolder, const std::string& sha256);

/// Every path inside a run folder is made here. A plain value; makes nothing on disk.
class RunPaths {
public:
    explicit RunPaths(std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path configFile() const { return folder_ / "run.json"; }
    std::filesystem::path parentFile() const
    {
        return folder_ / "parent.json";
    } ///< of a run that started from a checkpoint of another; see brain.h
    std::filesystem::path finishedMark() const
    {
        return folder_ / "finished.json";
    } ///< a person accepts the run as ended; see finished_mark.h
    std::filesystem::path tracker() const { return folder_ / "tracker.sqlite"; }
    std::filesystem::path trackerSnapshot() const { return folder_ / "view.sqlite"; }
    std::filesystem::path supervisorLock() const { return folder_ / "supervisor.lock"; }
    std::filesystem::path tokenizer() const { return folder_ / "tokenizer.json"; }
    std::filesystem::path telemetryFolder() const { return folder_ / "telemetry"; }
    std::filesystem::path feederTelemetry(std::int64_t attempt) const; ///< "<attempt>-feeder.jsonl": events only
    /// What the feeder has read, for people; see reading.h.
    std::filesystem::path readingFile() const { return folder_ / "reading.json"; }
    /// The most memory that a worker of the newest attempt took; see memory_file.h.
    std::filesystem::path memoryFile(int worker) const
    {
        return memoryFolder() / ("w" + std::to_string(worker) + ".json");
    }
    std::filesystem::path memoryFolder() const { return folder_ / "memory"; }
    std::filesystem::path telemetryFile(
        std::int64_t attempt, int worker) const; ///< "<attempt>-w<worker>.jsonl", of a task "<attempt>-task.jsonl"; one
                                                 ///< incarnation appends after the other
    /// The newest evaluation of each worker; see evaluation_file.h.
    std::filesystem::path evaluationsFolder() const { return folder_ / "evaluations"; }
    /// What a person left out by hand; see left_out_chunks.h.
    std::filesystem::path leftOutFolder() const { return folder_ / "left-out"; }
    /// Where the ranks of a data-parallel attempt find one another: one file for each time they start together.
    std::filesystem::path meetingsFolder() const { return folder_ / "meetings"; }
    std::filesystem::path logsFolder() const { return folder_ / "logs"; }
    std::filesystem::path logFile(
        std::int64_t attempt, const std::string& process) const; ///< "<attempt>-<process>.log"
    std::filesystem::path supervisorLog() const { return logsFolder() / "supervisor.log"; } ///< of all attempts
    std::filesystem::path checkpointsFolder() const { return folder_ / "checkpoints"; }
    std::filesystem::path checkpointFolder(const std::string& name) const { return checkpointsFolder() / name; }
    /// Manifests of checkpoints whose weights the keep policy removed: they still prove what went into their
    /// descendants.
    std::filesystem::path removedManifestsFolder() const { return checkpointsFolder() / "removed"; }
    /// What lay among the checkpoints and is not known to the tracker: moved here, never deleted.
    std::filesystem::path unknownCheckpointsFolder() const { return checkpointsFolder() / "unknown"; }
    /// Names of checkpoints that are being written; see checkpoint_notes.h.
    std::filesystem::path writingNotesFolder() const { return checkpointsFolder() / "writing"; }
    /// Weights that training leaves alone (LoRA), once for the run; see checkpoint_manifest.h.
    std::filesystem::path frozenFolder() const { return checkpointsFolder() / "frozen"; }
    /// Whether an entry of the folder of the checkpoints is one of the four above, and no checkpoint.
    bool isBesideCheckpoints(const std::filesystem::path& entry) const;
    /// What the model of init_from came with and exports pass on; see adopted_model.h.
    std::filesystem::path originFolder() const { return folder_ / "origin"; }
    std::filesystem::path exportsFolder() const { return folder_ / "exports"; }
    std::filesystem::path evaluationFile() const
    {
        return folder_ / "heldout.bin";
    } ///< frozen held-out tokens, see core/data/plan/held_out.h
    std::filesystem::path questionsFile() const
    {
        return folder_ / "questions.jsonl";
    } ///< the copy of eval_tasks, see core/data/question_file.h
    std::filesystem::path duplicatesFile() const
    {
        return folder_ / "duplicates.bin";
    } ///< which rows repeat others, see core/data/plan/duplicate_index.h
    /// Disposable files of readers (column cache of the console); may be deleted at any time.
    std::filesystem::path viewCacheFolder() const { return folder_ / "view-cache"; }
    /// Prepared blocks and downloads: of the workspace when the run lies in <workspace>/runs, else <run>/cache.
    std::filesystem::path cacheFolder() const;

private:
    std::filesystem::path folder_;
};

} // namespace furrow
