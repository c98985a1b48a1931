#pragma once

#include "core/base/message.h"
#include "core/base/clock.h"
#include "core/base/file_lock.h"
#include "core/tracker/sqlite/patience.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>

namespace furrow {

/// What the tracker must know of the configuration. Stored once at creation; only the stopping rules may change.
struct TrackerConfig {
    std::string runId;
    std::uint64_t seed = 0;
    std::int64_t shuffleWindowBlocks = 4;
    bool linearOrder = false;
    std::int64_t windowTokens = 0; ///< labels of each window of a chunk but the last; 0: tokens of parts are counted in
                                   ///< proportion to their windows
    std::string startAt; ///< "BLOCK:CHUNK" that epoch 0 begins with; "": wherever the order begins
    /// Columns by block ("0-20 30-40") of the chunks that the start weights have seen already; marked when their block
    /// becomes known.
    std::map<std::int64_t, std::string> inheritedColumns;
    Inherited inherited = Inherited::Nothing; ///< what those are marked as
    std::string frozen; ///< opaque to the tracker: what of the configuration must never change
};

struct StoppingRules {
    std::int64_t steps = 0; ///< optimiser steps summed over workers; 0: no limit (here and below)
    std::int64_t tokens = 0;
    double hours = 0; ///< active hours of all attempts
    std::int64_t epochs = 1; ///< 0: iterate without end
    std::int64_t blocks = 0; ///< stop after this many completed blocks
    bool afterThisEpoch = false; ///< at the latest with the first epoch that is open when the rules are set; kept as
                                 ///< its number in `epochs`
};

/// The rules with `afterThisEpoch` as a number of epochs.
/// @param currentEpoch  counted from 0: the first that is open, or where none is the next, which is yet to begin
StoppingRules resolved(StoppingRules rules, std::int64_t currentEpoch);

/// Where a run that trains shall end (SupervisorLedger::stopAfterThis).
enum class EndOf { Block, Epoch };

/// The tracker as the supervisor and the life-cycle commands see it. One connection, one thread.
class SupervisorLedger {
public:
    /// Creates a new tracker file with schema, configuration and epoch 0 open. Fails when the file exists.
    static Status create(const std::filesystem::path& tracker, const TrackerConfig& config, const StoppingRules& rules,
        const Clock& clock = systemClock());
    /// Brings an older schema forward after a backup copy `tracker.sqlite.v<k>.bak` (none is written over); does
    /// nothing to one of this version, refuses a newer one. Only who holds the supervisor's lock of the run may: under
    /// a living run of an older Furrow the tables must not change.
    /// @param patience  with others that write; without it 30 s
    static Status migrate(const std::filesystem::path& tracker, const FileLock& supervisorLock, Patience patience = {});
    /// Whether migrate() would change it. Only reads.
    static Result<bool> isOlder(const std::filesystem::path& tracker);
    /// Opens for writing; refuses a file of another version.
    static Result<SupervisorLedger> open(const std::filesystem::path& tracker, const Clock& clock = systemClock());
    SupervisorLedger(SupervisorLedger&&) noexcept;
    ~SupervisorLedger();

    /// How long each call waits for others that write; without it 30 s.
    void setPatience(Patience patience);
    /// The same for another connection of this thread to this tracker, which this outlives; empty: none was set.
    const Patience& patience() const;

    /// @param newestUsed  newest attempt that left files, which the tracker may not know: it gets a row, and the
    /// next one writes none of those
    Result<AttemptId> beginAttempt(
        const ProcessIdentity& supervisor, const std::string& overridesJson, std::int64_t newestUsed = 0);
    Status endAttempt(AttemptId attempt, StopReason reason, const Message& detail);
    /// The overrides of an attempt, which nobody can use, hold no more. They are kept beside, and an event says why.
    Status setOverridesAside(AttemptId attempt, const Message& why);
    /// The time since the last one is active time of the run, but for what others held the lock of the tracker.
    /// @param trains  false: nobody was there to train in it
    /// @param awaited  for people: which workers are not there, and when they begin
    Status heartbeat(const ProcessIdentity& self, bool trains = true, const Message& awaited = {});
    Status setStoppingRules(const StoppingRules& rules);
    /// Ends the run with the next block that becomes complete, or with the first epoch that is open, when no other rule
    /// does so before. Until the rules are set again. InvalidArgument where it is being stopped or killed.
    Status stopAfterThis(EndOf what);

    /// Revokes a worker: its claims and uncommitted chunks become free in the same transaction. Returns how many.
    /// @param endedWallNs  when it ended, where that was found later; 0: now
    Result<std::int64_t> revoke(IncarnationId incarnation, const Message& cause, std::int64_t endedWallNs = 0);
    struct Expired {
        IncarnationId incarnation;
        std::int32_t worker = 0;
        ProcessIdentity process;
        std::int64_t renewedNs = 0; ///< monotonic: when its lease was renewed last
        double overdueSeconds = 0;
        std::int64_t lastSeenWallNs = 0; ///< the last sign of life of it, or of the supervisor of its attempt
    };
    /// Live incarnations whose lease is over. Nothing is changed: the caller stops the process, then revokes.
    Result<std::vector<Expired>> expired();
    /// Every incarnation that is still marked live (after a crash of the supervisor).
    Result<std::vector<Expired>> live();
    /// Of those, whom the others wait for at an open merge round: they have not contributed yet, or they do the merge.
    Result<std::vector<Expired>> awaitedAtMerge();

    struct CheckpointRow {
        CheckpointId id;
        CheckpointRecord record;
        IncarnationId incarnation; ///< that wrote it
        bool rebuilt = false; ///< that stands for one of which the history was lost
        std::int64_t wallNs = 0;
        bool head = false; ///< newest surviving one of its replica, or the newest merge
        bool damaged = false;
        bool removed = false; ///< files deleted by the keep policy, row kept
        bool surviving = true; ///< a head was made from it
        bool pinned = false;
    };
    Result<std::vector<CheckpointRow>> checkpoints();
    /// Takes a damaged checkpoint out of the surviving lineage: its parts become free again, the head moves back.
    Result<std::int64_t> markDamaged(CheckpointId checkpoint, const Message& cause);
    /// Checkpoints that were left as damaged and were not taken back.
    Result<std::vector<CheckpointId>> leftBehind();
    /// The files of a damaged checkpoint, or of one that was left behind, are whole after all. Where nothing was
    /// trained since, or what was is gone itself, heads and chunks are as before it was marked; returns how many chunks
    /// are committed again. Nothing: the run went on without it, and it stays out of the lineage.
    Result<std::optional<std::int64_t>> takeBack(CheckpointId checkpoint);
    /// Takes every checkpoint that is newer than this one out of the surviving lineage: heads move back, what they
    /// trained since is free again. Refuses one that is damaged, removed or not surviving, and a run with live workers.
    /// Returns how many chunks.
    Result<std::int64_t> goBackTo(CheckpointId checkpoint);
    Status markRemoved(CheckpointId checkpoint);
    /// All of them or none, in one transaction. Refuses heads, the newest merge and pinned ones.
    Status markRemoved(std::span<const CheckpointId> checkpoints);
    /// The files of a removed one are there after all. @param pinned  somebody put them back: they stay until a person
    /// says otherwise
    Status markThereAgain(CheckpointId checkpoint, bool pinned);
    Status setPinned(CheckpointId checkpoint, bool pinned);
    /// Why checkpoints that may go cannot be removed (LedgerReader::notRemoved); "": they can again. With an event; the
    /// next attempt begins without it.
    Status keepNotRemoved(const Message& why);

    /// Head of each replica: a replica without one starts from the run's start weights.
    struct ReplicaRow {
        std::int32_t replica = 0;
        std::optional<CheckpointId> head;
        bool parked = false;
    };
    Result<std::vector<ReplicaRow>> replicas();
    /// Makes replicas 0..count-1 active and parks the others.
    Status setActiveReplicas(std::int32_t count);

    /// Opens a merge round when none is open. Returns its number.
    Result<std::int64_t> openMergeRound();

    /// Closes the epoch when complete (I4) and opens the next one when wanted. Evaluates the stopping rules.
    struct Advance {
        bool epochClosed = false;
        bool epochOpened = false;
        StopReason stop = StopReason::None; ///< not None: workers stop claiming, the run ends
        bool onlyUnreadableLeft = false; ///< nothing but poisoned chunks, or data that cannot be planned, keeps an
                                         ///< epoch open: a person must decide
        Message planningEnded; ///< why the rest of the data cannot be planned; "": it can, or it is
        Message gaveUp; ///< why the feeder stopped; "": it goes on
    };
    Result<Advance> advance();

    /// What a person wants of the run from now on. InvalidArgument: it is being stopped or killed, which nothing weaker
    /// takes back.
    Status setDesired(DesiredState desired);
    /// For an attempt that begins: nothing is wanted of it yet.
    Status forgetDesired();
    Status requestSave();
    Status requestEvaluation();
    static constexpr std::size_t kMostCauseBytes = 1000; ///< kept with each chunk, and shown for it in every epoch
    Status exclude(std::span<const ChunkId> chunks, const Message& cause);
    /// Poisoned -> Accepted, or -> Free for another try.
    Status acceptPoisoned(std::span<const ChunkId> chunks);
    Status retryPoisoned(std::span<const ChunkId> chunks);
    /// Moves the WAL into the tracker, so that it stays small; the only place that does (core/DECISIONS.md 20). Waits
    /// for nobody; false: a reader of an older state was in the way, and the WAL grows until the next call.
    Result<bool> checkpointWal();
    /// The same for the last time: nothing is left in the WAL, and its file is empty.
    Result<bool> emptyWal();
    /// A consistent copy for readers that cannot open a live database (core/DECISIONS.md 22).
    Status publishSnapshot(const std::filesystem::path& target);

private:
    struct State;
    explicit SupervisorLedger(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
