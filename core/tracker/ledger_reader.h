#pragma once

#include "core/base/message.h"
#include "core/base/closed_set.h"
#include "core/base/clock.h"
#include "core/tracker/active_stretch.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <map>
#include <set>
#include <memory>

namespace furrow {

struct GivenUpChunk;

struct AttemptRow {
    AttemptId id;
    ProcessIdentity supervisor;
    std::int64_t startedWallNs = 0;
    std::optional<std::int64_t> endedWallNs; ///< absent: no end was recorded
    std::int64_t lastSeenWallNs = 0; ///< the last heartbeat of its supervisor, where no end was recorded; 0: not known
    StopReason reason = StopReason::None;
    Message detail;
    std::string overridesJson;
};

struct IncarnationRow {
    IncarnationId id;
    AttemptId attempt;
    std::int32_t worker = 0;
    std::int32_t replica = 0;
    ProcessIdentity process;
    std::string device;
    std::string deviceName;
    bool live = false; ///< as the ledger has it; whether the process lives is for the caller to look
    Message endCause;
    std::int64_t startedWallNs = 0;
    std::int64_t endedWallNs = 0;
    std::int64_t leaseUntilNs = 0; ///< monotonic clock of this boot
    std::int64_t progressNs = 0; ///< monotonic time of the last renewal
    WorkerPhase phase = WorkerPhase::None;
    ChunkId chunk;
    double chunkFraction = 0;
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    double loss = 0;
    double tokensPerSecond = 0;
};

/// One cell of the coverage map.
struct ChunkCell {
    ChunkId id;
    std::int64_t block = 0;
    std::int32_t column = 0;
    ChunkState state = ChunkState::Pending;
    std::int16_t worker = -1; ///< who holds or trained it last; -1: nobody yet
    std::int16_t attempt = 0;
    std::int16_t timesTrained = 0; ///< trainings that ended, lost ones included
    std::int16_t timesLost = 0;
    bool savedSinceLoss = false; ///< of an unfinished chunk: a checkpoint has what was trained last of it
    Inherited inherited = Inherited::Nothing;
    std::int32_t windows = 0; ///< 0: its block was never prepared, or has nothing to train in it
    std::int32_t covered = 0; ///< windows that surviving checkpoints have
    std::int64_t samples = 0; ///< to be trained
    std::int64_t tokens = 0; ///< to be learnt from: the weight of its loss in a mean. Only of cells()
    float meanLoss = 0; ///< nats per token (ChunkLoss); NaN: none
    std::int64_t trainedWallNs = 0;
    bool begun = false; ///< leased, and its training has begun. cells() and changedCells() do not ask for it
    bool holderGone = false; ///< leased or trained by a process that is gone: nobody will finish it. As above
};

/// The one rule behind every count of lost work: a training of the chunk died with its weights, and nobody has done it
/// again yet. Who takes it up again and leaves it in the middle with a checkpoint has done that.
inline bool isWorkLost(const ChunkCell& cell)
{
    const bool wasLost = cell.timesLost > 0 && !cell.savedSinceLoss;
    switch (cell.state) {
    case ChunkState::Pending:
    case ChunkState::Free: return wasLost;
    case ChunkState::Leased: return cell.holderGone && (cell.begun || wasLost);
    case ChunkState::Trained: return cell.holderGone;
    default: return false;
    }
}

/// The one rule behind every count of chunks that nobody holds and that are trained in part: a checkpoint has some of
/// their windows, and no work on them was lost. Only the rest of them is still to be trained.
inline bool isPartlyTrained(const ChunkCell& cell)
{
    const bool isUnclaimed = cell.state == ChunkState::Pending || cell.state == ChunkState::Free;
    return isUnclaimed && cell.covered > 0 && !isWorkLost(cell);
}

/// The one rule behind every count of chunks that are left out because the parent run trained them: nobody left those
/// out by name, and the start weights have them.
inline bool isLeftToParent(const ChunkCell& cell)
{
    return cell.state == ChunkState::Excluded && cell.inherited == Inherited::Skipped;
}

/// The one rule behind every count of chunks that were left out after checkpoints had some of their windows: these stay
/// in the weights, and only the rest is not trained.
inline bool isPartlyLeftOut(const ChunkCell& cell)
{
    return (cell.state == ChunkState::Excluded || cell.state == ChunkState::Accepted) && cell.covered > 0;
}

/// Chunks of one epoch that are partly trained (isPartlyTrained), by the state that the ledger has them in.
struct PartlyTrained {
    std::int64_t pending = 0;
    std::int64_t free = 0;
    std::int64_t samplesDone = 0;
    std::int64_t samples = 0;
    std::int64_t sum() const { return pending + free; }
};

/// Chunks of one epoch whose work is lost (isWorkLost), by the state that the ledger has them in, and claims that
/// nobody will take up.
struct LostChunks {
    std::int64_t pending = 0;
    std::int64_t free = 0;
    std::int64_t leased = 0;
    std::int64_t trained = 0;
    std::int64_t released = 0; ///< leased by a process that is gone and never begun: no work is lost
    /// Of the lost ones, those of which surviving checkpoints have a part: only the rest is trained again.
    struct Kept {
        std::int64_t chunks = 0;
        std::int64_t samplesDone = 0;
        std::int64_t samples = 0;
    };
    Kept kept;
    std::int64_t sum() const { return pending + free + leased + trained; } ///< of lost work
};

/// Chunks of one epoch that are left out because the parent run trained them (isLeftToParent), as the audit counts
/// them.
struct LeftToParent {
    std::int64_t chunks = 0; ///< among the excluded ones
    std::int64_t samples = 0; ///< of prepared ones
    std::int64_t unread = 0; ///< rows of those that were never prepared
};

/// Chunks of one epoch that are left out and trained in part (isPartlyLeftOut).
struct PartlyLeftOut {
    std::int64_t chunks = 0;
    std::int64_t samplesDone = 0; ///< of `samples`, in the weights
    std::int64_t samples = 0;
    PartlyLeftOut& operator+=(const PartlyLeftOut& more)
    {
        chunks += more.chunks;
        samplesDone += more.samplesDone;
        samples += more.samples;
        return *this;
    }
    /// Counts one chunk that is left out, where the weights have something of it.
    /// @param windowsSkipped  SkippedChunk::windowsSkipped() @return of its samples, in the weights
    std::int64_t add(const ChunkCell& cell, std::int64_t windowsSkipped);
};

/// Chunks of one epoch in a state in which they are not to be trained.
struct LeftOutOfEpoch {
    std::int64_t samples
        = 0; ///< of prepared ones, but for those that the parent run trained and PartlyLeftOut::samplesDone
    std::int64_t unread = 0; ///< rows of those that were never prepared, the same
    LeftToParent toParent;
    PartlyLeftOut partly;
};

/// What became of a claim, as a reader sees it: what the ledger wrote when it closed, and what checkpoints have since.
enum class ClaimEnd { Open, Trained, Committed, Released, Lost, Failed, Unknown };
template <>
inline constexpr std::array kClosedNames<ClaimEnd> {
    ClosedName { ClaimEnd::Open, "open" },
    ClosedName { ClaimEnd::Trained, "trained" }, ///< no checkpoint has all of it yet
    ClosedName { ClaimEnd::Committed, "committed" },
    ClosedName { ClaimEnd::Released, "released" },
    ClosedName { ClaimEnd::Lost, "lost" }, ///< with its weights
    ClosedName { ClaimEnd::Failed, "failed" },
    ClosedName { ClaimEnd::Unknown, "unknown" }, ///< a number that this version does not know
};

/// What one checkpoint has, or had, of a training.
struct ClaimPart {
    CheckpointId checkpoint;
    std::int64_t steps = 0;
    std::int32_t windows = 0;
    bool isAlive = true; ///< false: the checkpoint does not survive
};

/// A row of the append-only claim history.
struct ClaimRow {
    std::int64_t claimId = 0;
    ChunkId chunk;
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int32_t column = 0;
    std::int32_t worker = 0;
    std::int32_t replica = 0;
    AttemptId attempt;
    std::int64_t claimedWallNs = 0;
    std::int64_t startedWallNs = 0; ///< 0: never begun
    std::int64_t endedWallNs = 0; ///< 0: open
    ClaimEnd outcome = ClaimEnd::Open;
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    double meanLoss = 0;
    double peakGradientNorm = 0;
    std::int64_t firstStep = 0; ///< of its replica, as telemetry counts them; 0: not told yet
    std::int64_t lastStep = 0;
    std::int64_t checkpoint = 0; ///< the newest that has something of it; 0: none
    std::int64_t keptSteps = 0; ///< optimiser steps of it that surviving checkpoints have: its first ones
    std::int32_t keptWindows = 0; ///< windows of it that surviving checkpoints have
    WindowRange done; ///< from the first window that it trained to the last; empty: none
    bool isLeftBehind = false; ///< a checkpoint that had windows of it does not survive
    bool wentBack = false; ///< left behind as the run went back to an older one; else that one was damaged or gone
    bool died = false; ///< what no checkpoint had of it was lost with its process, whatever became of its parts since
    std::int32_t doneWindows = 0; ///< windows that it trained to its end; `done` spans them
    std::vector<ClaimPart> parts; ///< by their windows; empty where one checkpoint has all that any has, and survives
};

/// Whether the weights that a training went into are gone with the process that did it, which has ended.
inline bool isOfNoWeights(const ClaimRow& claim)
{
    return claim.outcome == ClaimEnd::Open || claim.outcome == ClaimEnd::Trained || claim.outcome == ClaimEnd::Lost;
}

struct EventRow {
    std::int64_t seq = 0;
    std::int64_t wallNs = 0;
    ChunkId chunk; ///< 0: an event of the run
    int from = 0; ///< -1: the chunk became known
    int to = 0;
    std::int64_t incarnation = 0;
    Message cause;
    std::int64_t count = 1; ///< chunks with consecutive ids from `chunk`; all of them moved alike
};

struct EpochRow {
    std::int64_t epoch = 0;
    std::int64_t openedWallNs = 0;
    std::optional<std::int64_t> closedWallNs;
    std::optional<std::int64_t> blockCount; ///< absent: the last block is not proven
    std::int64_t knownBlocks = 0;
    std::int64_t visitedBlocks = 0; ///< blocks with at least one chunk begun
    std::int64_t completedBlocks = 0;
    std::int64_t leftOutBlocks = 0; ///< of completed ones: every chunk of them is left out; as samplesExcluded
    std::int64_t preparedBlocks = 0;
    ChunkCounts chunks;
    RowCounts rowsCommitted; ///< over committed chunks
    RowCounts rowsKnown;
    std::int64_t samplesExcluded = 0; ///< of chunks that are left out by name, among rowsKnown, without those in the
                                      ///< weights (PartlyLeftOut::samplesDone); as `lost` below, of shownEpochs()
    std::int64_t samplesAccepted = 0; ///< the same of chunks that are accepted as not trained
    std::int64_t unreadExcluded = 0; ///< rows of such chunks that were never prepared, so nobody knows what they are
    std::int64_t unreadAccepted = 0; ///< the same of accepted ones
    Message unprovenReason;
    LostChunks lost; ///< as readStatus() finds it; epochs() leaves it empty
    PartlyTrained partly; ///< the same
    LeftToParent toParent; ///< the same
    PartlyLeftOut partlyLeftOut; ///< the same, of closed epochs too

    /// Chunks that are left out by name: all excluded ones but those that the parent run trained.
    std::int64_t excludedByName() const { return chunks[ChunkState::Excluded] - toParent.chunks; }
    /// Samples in the weights, as the audit counts them: of committed chunks, and of parts of chunks that were left out
    /// since. Chunks that are partly trained are none of them before they are whole. Of readStatus().
    std::int64_t samplesTrained() const { return rowsCommitted.samples + partlyLeftOut.samplesDone; }
};

/// Read-only view of a tracker in short transactions. Never blocks a writer. One thread.
class LedgerReader {
public:
    /// Refuses a newer schema with the version that can read it.
    /// @param shownAs  what errors name in place of a private copy; empty: the file itself
    static Result<LedgerReader> open(const std::filesystem::path& tracker, const std::filesystem::path& shownAs = {},
        ReadFor readFor = ReadFor::Long);
    LedgerReader(LedgerReader&&) noexcept;
    ~LedgerReader();

    /// This reads a snapshot because the tracker cannot be read, for that reason.
    void standIn(Error why);
    const Error& standsInBecause() const; ///< no message: it reads the tracker, or is meant to read a snapshot

    /// While one lives, all that this reads is of one moment, so that a chunk is not seen in two states. As short as a
    /// transaction: the WAL cannot be emptied meanwhile. It ends before its reader.
    class Moment {
    public:
        Moment(Moment&&) noexcept;
        ~Moment();
        void end();

    private:
        friend class LedgerReader;
        struct State;
        explicit Moment(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };
    Result<Moment> moment();

    /// It sees nothing that is written from now on: the file was alone in its folder, or the folder cannot be written.
    bool isOfOneMoment() const;

    const std::filesystem::path& file() const; ///< that it reads, as errors name it
    Result<std::string> runId();
    Result<std::int64_t> participations(); ///< of private training, of any unit at most so far; 0: none, or not kept
    /// Corrupt: it is a copy without a WAL, which no process of a run writes; Database::setWalMode() mends that.
    static Status checkIsLive(const std::filesystem::path& tracker);
    Result<std::vector<Message>> notSaved(); ///< what live workers keep of why they cannot save, by worker
    Result<Message> notRemoved(); ///< why the keep policy cannot remove checkpoints (kCannotRemove); "": it can
    Result<bool> isMadeAnew(); ///< by a repair, or gone on with as an older copy: what was lost before that with its
                               ///< weights is not in the history
    Result<Message> goesOnWithout(); ///< what keepGoesOnWithout() kept; "": nothing
    Result<std::string> frozen(); ///< TrackerConfig::frozen; "": made by a version that did not keep it
    /// What chunks are given out by and their tokens counted (orderFacts), as it stands there now.
    Result<std::map<std::string, std::string>> orderFacts();
    Result<std::vector<AttemptRow>> attempts();
    struct Work {
        std::int64_t steps = 0; ///< optimiser steps
        std::int64_t tokens = 0; ///< labels
    };
    /// Of the chunks that each attempt trained to their end, lost ones included; attempts without any are left out.
    /// Reads all claims.
    Result<std::map<AttemptId, Work>> workOfAttempts();
    Result<std::vector<IncarnationRow>> incarnations();
    Result<std::vector<EpochRow>> epochs();
    Result<std::vector<ChunkCell>> cells(std::int64_t epoch);
    Result<ChunkCell> cell(ChunkId chunk); ///< NotFound when there is none
    /// What a worker process holds, of all epochs: leased and trained chunks, as cells with `begun`.
    Result<std::vector<ChunkCell>> heldBy(IncarnationId incarnation);
    /// What a process has trained and no checkpoint has, of what totals() counts: chunks that it trained to their end.
    Result<Work> unsavedOf(IncarnationId incarnation);
    /// What it has trained of the chunk in its hands, as it told last, that totals() counts only at the end of the
    /// chunk or at the next checkpoint.
    Result<Work> underWayOf(const IncarnationRow& row);
    /// Chunks of an epoch that are free or not prepared although something of them was trained: their work was lost
    /// (isWorkLost), or they are trained in part (isPartlyTrained). Reads the chunks of the epoch.
    Result<std::vector<ChunkCell>> takenUpOnce(std::int64_t epoch);
    /// Chunks of which a checkpoint had what was trained last and does not survive, whatever became of them since but
    /// that they were trained again; ascending.
    Result<std::vector<GivenUpChunk>> givenUpByCheckpoints();
    /// What the chunks of an epoch have that are in a state. Reads the chunks of the epoch.
    Result<LeftOutOfEpoch> leftOut(ChunkState state, std::int64_t epoch);
    /// LeftOutOfEpoch::partly of both states of a closed epoch. Its chunks are read once, and again when a checkpoint
    /// does not survive.
    Result<PartlyLeftOut> partlyLeftOut(const EpochRow& closed);
    /// Blocks of an epoch of which every chunk is excluded or accepted. Reads the counters of its blocks.
    Result<std::int64_t> leftOutBlocks(std::int64_t epoch);
    /// Cells that changed after event `seq`; sets `seq` to the newest. Cheap when nothing changed.
    Result<std::vector<ChunkCell>> changedCells(std::int64_t epoch, std::int64_t& seq);
    Result<std::vector<ClaimRow>> claimsSince(std::int64_t claimId, int limit);
    /// The newest claim that a process began to train; nothing: it began none.
    Result<std::optional<ClaimRow>> newestTrainingOf(IncarnationId incarnation);
    Result<std::vector<ClaimRow>> claimsOf(ChunkId chunk);
    /// ChunkOutcome::sampleLosses of the trainings that are in the weights, of each sample the newest; highest first.
    /// Empty in a file that does not keep them.
    Result<std::vector<SampleLoss>> sampleLosses(ChunkId chunk);
    Result<std::vector<EventRow>> eventsSince(std::int64_t seq, int limit);
    Result<std::int64_t> newestEvent(); ///< its seq; 0: none
    Result<Message> newestPoisonedCause(); ///< why chunks were poisoned last; "": none ever was
    Result<std::vector<SupervisorLedger::CheckpointRow>> checkpoints();
    Result<std::vector<SupervisorLedger::ReplicaRow>> replicas();
    /// A chunk of which some windows leave the weights and others stay there.
    struct Staying {
        ChunkId chunk;
        std::int32_t covered = 0; ///< windows that surviving checkpoints have then
        std::int32_t skipped = 0; ///< of these, left out by name
        std::int32_t windows = 0; ///< of the chunk
        std::int64_t samples = 0; ///< to be trained
        std::int64_t tokens = 0;
    };
    /// What would be lost when checkpoints leave the lineage, without doing it.
    struct Retreat {
        std::map<std::int32_t, CheckpointId>
            heads; ///< where each replica would stand; one that goes back to the start weights is left out
        std::set<CheckpointId> surviving; ///< what these were made from, themselves included
        std::vector<ChunkId> chunks; ///< committed now, not any more then
        std::vector<ChunkId> parts; ///< not committed now either; what those checkpoints had of them is lost then
        std::vector<Staying>
            staying; ///< those of `chunks` and `parts` of which other checkpoints have a part, ascending
    };
    /// @param newest  every newer checkpoint leaves; nothing: none does for its age
    /// @param bad  these leave with all that was made from them
    /// @param thereAgain  removed ones that can be gone on from all the same
    Result<Retreat> retreat(std::optional<CheckpointId> newest, const std::vector<CheckpointId>& bad,
        const std::vector<CheckpointId>& thereAgain = {});
    /// Everything that the weights of a checkpoint have trained: its own parts and those of all it was made from,
    /// without the windows that were left out by name.
    Result<std::vector<Part>> partsBehind(CheckpointId checkpoint);
    /// The living parts of this one, without those of its ancestors; those left out by name too.
    Result<std::vector<Part>> partsOf(CheckpointId checkpoint);
    struct BlockRow {
        std::int64_t block = 0;
        std::int32_t source = 0;
        std::int64_t firstRow = 0;
        std::int64_t rows = 0;
        std::int64_t chunks = 0;
        std::string plan;
        std::string fileName; ///< prepared file; empty: not prepared
        std::string digest;
    };
    Result<BlockRow> block(std::int64_t block);
    enum class Blocks { PreparedOnce, Known };
    /// Blocks with a number above `block`, at most `limit`.
    Result<std::vector<BlockRow>> blocksAfter(std::int64_t block, int limit, Blocks which = Blocks::PreparedOnce);
    /// What preparing showed of a committed chunk.
    struct ChunkContent {
        ChunkId chunk;
        RowCounts rows;
        std::int32_t windows = 0;
        std::int64_t tokens = 0;
        std::uint64_t digest = 0;
    };
    /// The committed chunks of a block, of all epochs.
    Result<std::vector<ChunkContent>> committedOf(std::int64_t block);
    struct Totals {
        std::int64_t steps = 0; ///< optimiser steps in trained and committed work of all workers; what a worker does
                                ///< within a chunk comes at the end of the chunk or with a checkpoint (underWayOf)
        std::int64_t tokens = 0;
        double activeSeconds = 0;
        DesiredState desired = DesiredState::Run;
        StoppingRules rules;
        std::int64_t trainedBlocks = 0; ///< as rules.blocks counts them; 0 without that rule
        StopReason stop = StopReason::None;
        std::optional<ProcessIdentity> supervisor;
        std::int64_t supervisorHeartbeatNs = 0; ///< monotonic
        std::int64_t supervisorHeartbeatWallNs = 0;
        Message awaited; ///< as the supervisor told it last: which workers are not there, and when they begin
        std::optional<ProcessIdentity> feeder;
        Message feederDoing;
        DataNotes data;
    };
    Result<Totals> totals();
    /// When the run was active, oldest first; their sum is Totals::activeSeconds. Of a file of an older Furrow, each
    /// attempt is one, and the pauses in it are spread over it.
    Result<std::vector<ActiveStretch>> activeStretches();

private:
    struct State;
    explicit LedgerReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
