#pragma once

#include "core/base/process.h"
#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/run/start/data_outlook.h"
#include "core/run/start/given_up_chunks.h"
#include "core/run/start/rate_outlook.h"
#include "core/run/start/replica_heads.h"
#include "core/run/start/resume_choice.h"
#include "core/run/start/resume_effect.h"
#include "core/run/folder/run_file.h"
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
    std::int64_t createdWallNs = 0; ///< since 1970; 0: now. An invented run has a past
    bool onlyTry = false; ///< do all of it elsewhere and leave nothing: the folder is named, not made
};
/// Validates everything, looks at the data, freezes run.json, tokenizer and held-out text, creates the tracker.
/// On any error nothing is left behind. `progress` gets sentences; may be empty.
Result<RunPaths> createRun(const NewRun& request, const std::function<void(const std::string&)>& progress);

/// What keeps settings from being those of the next attempt: each that is wrong or that a resume may not change, and
/// devices that are not here.
Status checkNextSettings(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const RunConfig& wanted);

/// Starts (or resumes) the detached supervisor and waits until it holds the run, or says why it does not.
/// @param wanted  the configuration from now on; what a resume may not change is refused by name
/// @param environment  added to that of the run's processes (faults of a storm)
/// Refuses a tracker that is older than the weights, unless the choice accepts the loss, and a finished run that has
/// nothing left to train.
Result<ProcessIdentity> startRun(const RunPaths& paths, const RunConfig& wanted,
    const std::map<std::string, std::string>& environment = {}, const ResumeChoice& choice = {});
/// Waits, half a minute at most, until a run that was started has put in order what was left and starts its processes.
/// False: it is still at it. An attempt that has failed meanwhile is an error with its reason.
Result<bool> waitUntilBegun(const RunPaths& paths, const ProcessIdentity& supervisor);
/// The configuration in force: run.json plus the overrides of the newest attempt.
Result<RunConfig> currentConfig(const RunPaths& paths);

/// The ledger for what a person wants of it. One of an older Furrow is brought forward when nobody trains the run;
/// while somebody does it is refused with the way out. It is for one wish: it waits for a locked tracker half a minute
/// from now on, and names in the log who holds it.
Result<SupervisorLedger> openForControl(const RunPaths& paths);

Status pauseRun(const RunPaths& paths); ///< at the end of the chunks in training; processes stay
Status continueRun(const RunPaths& paths); ///< with a pause; a run that nobody trains is resumed instead
Status stopRun(const RunPaths& paths); ///< after a checkpoint
Status killRun(const RunPaths& paths); ///< now; work since the last checkpoints is freed
Status saveNow(const RunPaths& paths);
Status evaluateNow(const RunPaths& paths);
Status stopAfterThis(const RunPaths& paths, EndOf what); ///< with the block that is complete next, or this epoch
/// A person accepts a run that nobody trains as ended as it is: its state is finished, until it is resumed. Refused
/// where it is finished.
Status markFinished(const RunPaths& paths);

/// What a resume would do, without doing it.
struct ResumePlan {
    struct CheckpointChoice {
        SupervisorLedger::CheckpointRow row;
        bool verified = false;
        bool damaged = false; ///< not verified, because its content is wrong; else it could not be read
        Message loss; ///< what going on from here gives up beside what is newer: ResumeChoice::acceptLoss; "": nothing
        Message problem; ///< why it is not verified, or cannot be chosen
        bool canBeChosen = false; ///< verified, and the weights of the run grew from it
        std::int64_t kept = 0; ///< committed chunks that stay when the run goes on from here: of ResumeEffect::epochs,
                               ///< and of the epochs of `redo`
        std::vector<ChunkId> redo; ///< committed now, trained again then; of any epoch
        std::vector<ChunkId> partsLost; ///< ResumeEffect::partsLost of a resume from here
        std::vector<LedgerReader::Staying> staying; ///< ResumeEffect::staying, the same
        double redoTokens = 0; ///< of `redo`, and of what checkpoints have of `partsLost`, without what stays
    };
    std::vector<CheckpointChoice> checkpoints;
    std::vector<CheckpointId> thereAgain; ///< of those, removed ones that a resume takes back
    ResumeEffect effect; ///< of a plain resume, from the newest checkpoint of each replica
    GivenUpChunks givenUp; ///< of its lost chunks
    Message
        loss; ///< which newest weights a plain resume would leave behind: it needs ResumeChoice::acceptLoss; "": none
    std::optional<Error> refusal; ///< why a resume would not begin, whatever is chosen
    Message olderTracker; ///< tracker and weights side by side when the tracker is older; "": it is not
    double redoTokens
        = 0; ///< of ResumeEffect::redo, and of what checkpoints have of its `partsLost`, without what stays
    ReplicaHeads heads; ///< of a plain resume; replicasInWords() says what becomes of them
    RateOutlook rate; ///< forecastRate() tells from it how the learning rate goes on with any settings
    std::int64_t endedWallNs = 0; ///< when the run was last alive; 0: never
    double secondsPerChunk = 0; ///< of active time so far, all workers together; 0: not known
    std::optional<std::int64_t> twice; ///< chunks twice in the weights, by the audit; absent: it could not be made
    std::optional<std::int64_t> missing; ///< committed ones with a hole, and chunks that should exist and do not
    std::vector<Message> notes;
    DataOutlook data; ///< for who asks lookAtData(), which may take long; planResume() leaves it empty

    const CheckpointChoice* choiceOf(CheckpointId checkpoint) const; ///< null: it is not among `checkpoints`
    /// What a resume from one of `checkpoints` does with the chunks of `effect`. Copies its cells: for one choice, not
    /// for all of them.
    ResumeEffect effectOf(const CheckpointChoice& choice) const;
    /// Whether the run can go on from a checkpoint; one that is not among `checkpoints` is not in doubt.
    bool isWhole(CheckpointId checkpoint) const;
    CheckpointFiles files() const; ///< asks this plan: it must live as long
    /// What a resume would answer before it trains anything.
    Status verdict(const ResumeChoice& choice) const;
};
Result<ResumePlan> planResume(const RunPaths& paths);

} // namespace furrow
