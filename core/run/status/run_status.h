#pragma once

#include "core/base/result.h"
#include "core/data/plan/held_out.h"
#include "core/model/measured_memory.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/open_epochs.h"
#include "core/run/status/reading.h"
#include "core/run/folder/run_file.h"
#include "core/telemetry/task_marks.h"
#include "core/tracker/named_chunks.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace furrow {

/// Never stored: derived from processes, heartbeats and exit records each time it is asked.
/// Paused: its processes are there and wait. Stopped: a person ended it, in order or by a kill.
enum class RunState { New, Running, Paused, Stopping, Stopped, Interrupted, Failed, Finished, Unknown };
std::string toString(RunState state); ///< "new" "running" ...
RunState stateAfter(StopReason reason); ///< of a run whose newest attempt ended so, when nobody trains it

/// Why an attempt ended, for people: the reason in words, or what the detail says more closely, or both. @param reason
/// None: ""
Message endInWords(StopReason reason, const Message& detail);

/// A loss on held-out text, and what it is of.
struct HeldOutLoss {
    double loss = 0; ///< nats per token
    std::int64_t step
        = 0; ///< optimiser steps in the weights that were evaluated; in a replay those of the worker itself
    EvaluatedText text; ///< that they were evaluated on
    int replica = 0;
    bool merged = false; ///< of a merge; `replica` means nothing then
    std::int64_t wallNs = 0; ///< when they were evaluated, or saved
    Message whose; ///< a sentence as of whoseWeights()
    std::int64_t checkpoint = 0; ///< number of the one that has them; 0: a worker evaluated them while it trained
    bool superseded = false; ///< newer weights are in a checkpoint, and were not evaluated
    std::optional<std::int64_t> beforeEndOf; ///< the first epoch that they do not have all of, from 0; nothing: of none
};
/// "of weights with 1,200 steps, on 12,345 tokens of held-out text; checkpoint 7, not the newest weights, before the
/// end of epoch 1, replica 0": what the loss is of, which may be text that is trained too. A sentence.
Message ofWhat(const HeldOutLoss& evaluation);

/// Answers to the questions of the run (setting eval_tasks), and whose they are.
struct TaskAnswers {
    TaskMarks marks;
    std::int64_t step = 0; ///< optimiser steps in the weights that answered
    int replica = 0;
    bool merged = false; ///< of a merge; `replica` means nothing then
    std::int64_t wallNs = 0;
};
/// "accuracy 42.0 %, by length 44.0 %, where guessing gets 25.0 %; of 100 questions, by weights with 1,200 steps,
/// replica 0". A sentence.
Message inWords(const TaskAnswers& answers);

struct WorkerStatus {
    int worker = 0;
    int replica = 0;
    std::int64_t pid = 0; ///< 0: it cannot be seen from here (another container)
    bool alive = false;
    std::string device;
    std::string deviceName;
    WorkerPhase phase = WorkerPhase::None;
    Message endCause; ///< of the newest incarnation when it is not alive
    Message lastDeath; ///< why the one before the newest ended, when it was started again in this attempt
    int restarts = 0;
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    double loss = 0;
    bool lossIsGone = false; ///< of one in `lossWorkers`: it ended, and no weights have the step that `loss` is of
    double tokensPerSecond = 0; ///< of a living one, 0 while it makes no steps; else it says nothing
    std::int64_t chunkBlock = -1;
    int chunkColumn = -1;
    double chunkFraction = 0;
    double secondsSinceProgress = 0; ///< of a living one
    std::int64_t startedWallNs = 0; ///< of the newest incarnation
    std::int64_t endedWallNs = 0; ///< of the newest incarnation; 0: it lives, or its end was not recorded
    std::optional<MeasuredMemory> memory; ///< absent before its first checkpoint
};

/// What keeps a run that has processes from going on, or its state from being known.
struct Hindrance {
    Message words; ///< "the supervisor stands still": behind the state, where there is room for no more
    Message sentence; ///< with the way out
};

/// The feeder cannot reach the data, and tries again for ever.
struct DataWait {
    Message why; ///< with the file or address; a sentence
    std::int64_t sinceWallNs = 0; ///< 0: not known
    double nextTrySeconds = 0;
    bool trainsOn = false; ///< there is something prepared to train meanwhile; else it is the hindrance
    Message sentence; ///< all of that, also among the evidence
};

/// Everything a person may ask about a run right now. A value: computed in one go by readStatus.
struct RunStatus {
    std::string folder;
    RunFile file;
    RunState state = RunState::Unknown;
    StopReason stopReason = StopReason::None;
    Message stopDetail;
    bool markedByHand = false; ///< Finished because a person said so; the evidence tells how the attempt really ended
    std::vector<Message> evidence; ///< sentences (core/base/sentence.h), shown under "Why?"; times as in ISO 8601
    std::optional<Hindrance> hindrance; ///< the first, where there are several; its sentence is among the evidence
    std::optional<DataWait> dataWait; ///< only while the run is running
    std::int64_t attempt = 0; ///< 1-based number of the newest attempt; 0: never started
    std::int64_t endedWallNs
        = 0; ///< when the newest attempt ended or, without an exit record, was last heard of; 0: neither is known
    bool supervised = false; ///< its supervisor lives
    std::int64_t supervisorPid = 0; ///< 0: none alive, or it cannot be seen from here
    bool supervisorStandsStill = false; ///< somebody stopped its process
    std::int64_t clockAheadNs = 0; ///< of the clock here, before that of the run; 0: they agree but for a little
    std::vector<WorkerStatus> workers;
    std::vector<EpochRow> epochs; ///< the open ones with EpochRow::lost
    std::vector<ChunkCell>
        goneHolds; ///< what processes that are gone hold, until the next attempt frees it: with ChunkCell::holderGone
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    double activeSeconds = 0; ///< of all attempts, while a worker lived and there was something to train or to prepare:
                              ///< without pauses and waits for data that cannot be reached
    double loss = 0; ///< token-weighted over the workers that train, after an attempt over those that trained until its
                     ///< end; NaN: none yet
    int lossWorkers = 0; ///< that `loss` is the mean of
    bool lossIsGone = false; ///< `loss` is of steps that no weights have any more: WorkerStatus::lossIsGone of them all
    double tokensPerSecond = 0; ///< sum over living workers; without one (isAnyAlive()) it says nothing
    std::vector<Message> keepsEpochOpen; ///< in words: "12 chunks free", "last block not proven because ..."; while
                                         ///< two epochs are open "epoch 1: ...", of more "epochs 1 to 9: ..." with the
                                         ///< sums. Of a finished run: what it leaves
    Message poisonedCause; ///< why chunks could not be read last; "": none is poisoned
    std::int64_t checkpoints = 0;
    Message checkpointsAway; ///< a sentence, also among the evidence: their folder is not there; "": it is
    std::int64_t newestCheckpointWallNs = 0;
    std::optional<HeldOutLoss> evaluation; ///< the newest of weights that are there, whichever replica's: of a
                                           ///< checkpoint, or told by a worker while it trained
    std::optional<TaskAnswers> answers; ///< the newest of weights that are there; absent: no questions were put to any
    EvaluatedText evaluated; ///< that one evaluation takes as the run is set now
    StoppingRules rules; ///< in force now
    DataNotes data;
    std::vector<LeftOutPart> leftOut; ///< files, or rests of them, that a person chose to go on without; the first ten
    std::optional<Reading> reading; ///< what the feeder has read; absent: it has not begun
};

/// The epochs that views show as one, with sums over them; nothing before the first chunk is known.
inline std::optional<ShownEpochs> shownEpochs(const RunStatus& status) { return shownEpochs(status.epochs); }

/// Wall time by the clock of the run, to which what it wrote down can be compared; nanoseconds since 1970.
std::int64_t nowOfRun(const RunStatus& status);

/// A worker lives: the run has a speed now. What ended has none, and 0 would be one.
bool isAnyAlive(const RunStatus& status);

/// Tokens per second over the whole active time of all attempts; 0: nothing was trained yet.
double meanTokensPerSecond(const RunStatus& status);

/// Reads a run folder, live, dead or copied. Never writes. Takes some milliseconds; any thread.
Result<RunStatus> readStatus(const RunPaths& paths);
/// The same through a ledger that is open already, by openLedger().
Result<RunStatus> readStatus(const RunPaths& paths, LedgerReader& ledger);
nlohmann::json toJson(const RunStatus& status);

} // namespace furrow
