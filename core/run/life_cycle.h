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
Result<ProcessIdentity> startRun(const RunPaths& paths, const RunConfig& wanted, const std::map<std::string, std::string>& environment = {});
/// The configuration in force: run.json plus the overrides of the newest attempt.
Result<RunConfig> currentConfig(const RunPaths& paths);

Status pauseRun(const RunPaths& paths); ///< at the end of the chunks in training; processes stay
Status continueRun(const RunPaths& paths); ///< a paused one, or restarts a stopped one
Status stopRun(const RunPaths& paths); ///< after a checkpoint
Status killRun(const RunPaths& paths); ///< now; work since the last checkpoints is freed
Status saveNow(const RunPaths& paths);

/// What a resume would do, without doing it.
struct ResumePlan {
    struct CheckpointChoice {
        SupervisorLedger::CheckpointRow row;
        bool verified = false;
        std::string problem; ///< why not
        std::int64_t kept = 0; ///< chunks committed in its lineage
        std::int64_t redo = 0;
    };
    std::vector<CheckpointChoice> checkpoints;
    std::int64_t kept = 0;
    std::int64_t redo = 0; ///< committed only in damaged checkpoints
    std::int64_t workLost = 0; ///< trained after the newest good checkpoint
    std::int64_t orphaned = 0; ///< claims of dead workers, never begun
    std::int64_t free = 0;
    std::int64_t excluded = 0;
    std::int64_t poisoned = 0;
    std::vector<ChunkCell> cells; ///< newest epoch
    std::vector<std::string> notes;
};
Result<ResumePlan> planResume(const RunPaths& paths);

} // namespace furrow
