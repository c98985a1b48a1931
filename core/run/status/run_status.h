#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_file.h"
#include "core/run/status/end_words.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/held_out_loss.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/lost_by_epoch.h"
#include "core/run/status/open_epochs.h"
#include "core/run/status/privacy_spent.h"
#include "core/run/status/reading.h"
#include "core/run/status/run_state.h"
#include "core/run/status/samples_left_out.h"
#include "core/run/status/worker_status.h"
#include "core/tracker/named_chunks.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace furrow {

/// What keeps a run that has processes from going on, or its state from being known.
struct Hindrance {
    Message words; ///< "the supervisor stands still": behind the state, where there is room for no more
    Message sentence; ///< with the way out
};

/// The feeder cannot reach the data, and what that means for the run.
struct DataWait : DataOutage {
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
    std::map<std::int64_t, LostCauses> lostCauses; ///< of that, by epoch; empty: none is, or nobody knows
    std::map<std::int64_t, SkippedOfEpoch> skipped; ///< by epoch; what is left out is not among its committed samples
    std::vector<ChunkCell>
        goneHolds; ///< what processes that are gone hold, until the next attempt frees it: with ChunkCell::holderGone
    std::int64_t steps = 0; ///< optimiser steps in checkpoints and in the weights of living workers, with those of the
                            ///< chunks under way as they told last; what went with its weights is not among them
    std::int64_t tokens = 0; ///< of the same
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
    Message notRemoved; ///< a sentence, also among the evidence: old checkpoints cannot be removed and pile up; "":
                        ///< they can
    std::int64_t newestCheckpointWallNs = 0;
    std::optional<HeldOutLoss> evaluation; ///< the newest of weights that are there, whichever replica's: of a
                                           ///< checkpoint, or told by a worker while it trained
    std::optional<TaskAnswers> answers; ///< the newest of weights that are there; absent: no questions were put to any
    std::optional<PrivacySpent> privacy; ///< of a run that trains with noise
    EvaluatedText evaluated; ///< that one evaluation takes as the run is set now
    StoppingRules rules; ///< in force now
    std::int64_t trainedBlocks = 0; ///< LedgerReader::Totals::trainedBlocks
    DataNotes data;
    std::vector<LeftOutPart> leftOut; ///< files, or rests of them, that a person chose to go on without; the first ten
    std::optional<Reading> reading; ///< what the feeder has read; absent: it has not begun
};

/// The epochs that views show as one, with sums over them; nothing before the first chunk is known.
inline std::optional<ShownEpochs> shownEpochs(const RunStatus& status) { return shownEpochs(status.epochs); }

/// What the evidence says of an end that is near because somebody asked for it, or a stopping rule; "": nothing.
Message isAboutToEnd(const RunStatus& status);

/// Wall time by the clock of the run, to which what it wrote down can be compared; nanoseconds since 1970.
std::int64_t nowOfRun(const RunStatus& status);

/// A worker lives: the run has a speed now. What ended has none, and 0 would be one.
bool isAnyAlive(const RunStatus& status);

/// A run that is finished by itself; whoever marked one so may go on with it. What was interrupted has not: a merge may
/// be left to make behind its last chunk.
bool hasComeToItsEnd(const RunStatus& status);

/// What a run that has come to its end says of it, as that it left most of its text out; "": nothing, or it has not.
/// Before that the detail of a state is for who looks at the run, not for a line in a list.
Message saidOfItsEnd(const RunStatus& status);

/// Tokens per second over the whole active time of all attempts; 0: nothing was trained yet.
double meanTokensPerSecond(const RunStatus& status);

/// Reads a run folder, live, dead or copied. Never writes. Takes some milliseconds; any thread.
Result<RunStatus> readStatus(const RunPaths& paths);
/// The same through a ledger that is open already, by openLedger().
Result<RunStatus> readStatus(const RunPaths& paths, LedgerReader& ledger);
nlohmann::json toJson(const RunStatus& status);

} // namespace furrow
