#pragma once

#include "core/base/process.h"
#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/run/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <filesystem>
#include <functional>
#include <string>

namespace furrow {

// The verbs of a run's life. furrowctl and the console both call these and nothing else.

struct NewRun {
    RunConfig config;
    std::string preset;
    std::filesystem::path folder; ///< where to make it; empty: <workspace>/runs/<date>-<name>-<id>
    std::filesystem::path workspace; ///< used when `folder` is empty
};
/// Validates everything, looks at the data, freezes run.json, tokenizer and held-out text, creates the tracker.
/// On any error nothing is left behind. `progress` gets sentences; may be empty.
Result<RunPaths> createRun(const NewRun& request, const std::function<void(const std::string&)>& progress);

/// Starts (or resumes) the detached supervisor and waits until it holds the run, or says why it does not.
/// @param wanted  the configuration from now on; what a resume may not change is refused by name
/// @param environment  added to that of the run's processes (faults of a storm)
/// @param goBackTo  checkpoint to go on from: what is newer leaves the lineage and its chunks are trained again; nothing: the newest of
///     each replica
Result<ProcessIdentity> startRun(const RunPaths& paths, const RunConfig& wanted, const std::map<std::string, std::string>& environment = {}, std::optional<CheckpointId> goBackTo = {});
/// The configuration in force: run.json plus the overrides of the newest attempt.
Result<RunConfig> currentConfig(const RunPaths& paths);

Status pauseRun(const RunPaths& paths); ///< at the end of the chunks in training; processes stay
Status continueRun(const RunPaths& paths); ///< a paused one, or restarts a stopped one
Status stopRun(const RunPaths& paths); ///< after a checkpoint
Status killRun(const RunPaths& paths); ///< now; work since the last checkpoints is freed
Status saveNow(const RunPaths& paths);
/// A person accepts a run that nobody trains as ended as it is: its state is finished, until it is resumed.
Status markFinished(const RunPaths& paths);

/// What a resume would do, without doing it.
struct ResumePlan {
    struct CheckpointChoice {
        SupervisorLedger::CheckpointRow row;
        bool verified = false;
        std::string problem; ///< why not
        bool canBeChosen = false; ///< verified, and the weights of the run grew from it
        std::int64_t kept = 0; ///< of the committed chunks of the newest epoch, when the run goes on from here
        std::vector<ChunkId> redo; ///< committed now, trained again then; of any epoch
    };
    std::vector<CheckpointChoice> checkpoints;
    std::int64_t kept = 0;
    std::int64_t redo = 0; ///< committed only in damaged checkpoints
    std::vector<ChunkId> redoChunks; ///< those, and such of earlier epochs
    std::int64_t endedWallNs = 0; ///< when the run was last alive; 0: never
    double secondsPerChunk = 0; ///< of active time so far, all workers together; 0: not known
    std::optional<std::int64_t> twice; ///< chunks twice in the weights, by the audit; absent: it could not be made
    std::optional<std::int64_t> missing; ///< committed ones with a hole, and chunks that should exist and do not
    std::int64_t workLost = 0; ///< trained after the newest good checkpoint
    std::int64_t orphaned = 0; ///< claims of dead workers, never begun
    std::int64_t free = 0;
    std::int64_t excluded = 0;
    std::int64_t poisoned = 0;
    std::vector<ChunkCell> cells; ///< newest epoch; the counts above are of it
    std::vector<std::string> notes;
};
Result<ResumePlan> planResume(const RunPaths& paths);

} // namespace furrow
