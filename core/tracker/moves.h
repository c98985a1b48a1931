#pragma once

#include "core/base/message.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/window_ranges.h"

#include <unordered_map>

namespace furrow {

/// The one place that knows how a chunk may change. See FORMAT.md for the picture.
bool isLegalMove(ChunkState from, ChunkState to);

/// A chunk as it is on disk. Internal to core/tracker.
struct ChunkRow {
    // fixed
    ChunkId id;
    ChunkPlace place;
    RowCounts rows;
    std::optional<std::int64_t> windows; // absent: never prepared
    std::int64_t tokens = 0;
    // written by moves
    ChunkState state = ChunkState::Pending;
    std::int64_t covered = 0; // windows in living parts
    std::optional<std::int64_t> holder; // incarnation
    std::optional<std::int64_t> claim; // the last one
    std::int64_t failures = 0;
    std::int64_t timesTrained = 0;
    std::int64_t timesLost = 0;
    std::int64_t worker = -1;
    std::int64_t attempt = 0;
    std::optional<double> meanLoss;
    std::int64_t trainedWall = 0;

    WindowRanges whole() const;
};

/// Fails the database with NotFound when there is no such chunk.
ChunkRow loadChunk(Database& db, ChunkId id);
/// Outcome of a claim; the numbers are on disk. "committed" is not among them: the living parts of a claim say that.
enum class ClaimOutcome { Open = 0, Trained = 1, Released = 2, Lost = 3, Failed = 4 };
/// A row of the claim history as the writes need it.
struct HeldClaim {
    std::int64_t id = 0;
    ClaimOutcome outcome = ClaimOutcome::Open;
    bool begun = false;
    WindowRanges ranges; // what was to be trained
    WindowRanges done;
    WindowRanges skipped;
    std::int64_t steps = 0;
};
/// A chunk with its last claim. Fails the database with NotFound when the chunk is missing or was never claimed.
struct ClaimedChunk {
    ChunkRow chunk;
    HeldClaim claim;
};
ClaimedChunk loadClaimedChunk(Database& db, ChunkId id);
/// All that an incarnation holds, by id: one statement for a commit of many chunks.
std::vector<ClaimedChunk> loadHeldChunks(Database& db, std::int64_t incarnation);
/// How many of them are in `state`.
std::int64_t countHeldChunks(Database& db, std::int64_t incarnation, ChunkState state);

/// The free chunk with the lowest place in the claim order, if any.
std::optional<ChunkRow> loadFirstFree(Database& db);
/// Windows of a chunk that are in the surviving weights, or left out by name.
WindowRanges coveredRanges(Database& db, const ChunkRow& chunk);

/// Changes of the run's totals, collected and written once.
struct TotalsChange {
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    std::int64_t claimedTokens = 0;
    std::int64_t reservedSteps = 0;
};

/// Moves chunks inside one transaction: checks legality, writes the row at once, and events and the counters of
/// blocks, epochs and run by finish(). Each transaction uses exactly one and finishes it.
class ChunkMoves {
public:
    ChunkMoves(LedgerFile& file, std::int64_t incarnation);
    ~ChunkMoves();
    ChunkMoves(const ChunkMoves&) = delete;
    ChunkMoves& operator=(const ChunkMoves&) = delete;

    enum class Fields { All, Coverage };
    /// Stores the fields of `chunk` (Coverage: only `covered` and `holder` have changed) with the new state. Returns
    /// the number of the event, which it may share with the chunks before.
    std::int64_t move(ChunkRow& chunk, ChunkState to, const Message& cause, Fields fields = Fields::All);
    /// Stores changed fields without a move.
    void store(const ChunkRow& chunk);
    /// Where a chunk goes that nobody holds any more: Free when its block can be read, else Pending.
    ChunkState unclaimedState(const ChunkRow& chunk);
    /// Notes that training of a chunk of this block began.
    void visit(const ChunkPlace& place);
    TotalsChange& totals() { return totals_; }
    std::int64_t wallNs() const { return wallNs_; }

    /// Writes the counters; reopens a closed epoch that has unfinished chunks again.
    void finish();

private:
    struct BlockChange {
        std::int64_t epoch = 0;
        std::int64_t block = 0;
        std::int64_t byState[kChunkStateCount] = {};
        bool visited = false;
    };
    struct EpochChange {
        std::int64_t epoch = 0;
        std::int64_t byState[kChunkStateCount] = {};
        std::int64_t visitedBlocks = 0;
        std::int64_t completedBlocks = 0;
        RowCounts rowsDone;
    };
    BlockChange& blockChange(const ChunkPlace& place);
    EpochChange& epochChange(std::int64_t epoch);
    /// The same move of chunks with consecutive ids, one after the other: one row of `event`.
    struct EventRun {
        std::int64_t seq = 0;
        std::int64_t first = 0; // chunk
        std::int64_t count = 0;
        ChunkState from = ChunkState::Pending;
        ChunkState to = ChunkState::Pending;
        Message cause;
    };
    void writeRow(const ChunkRow& chunk, ChunkState to, Fields fields);
    void writeEvent(const ChunkRow& chunk, ChunkState to, const Message& cause);
    void endEventRun();
    void writeBlock(const BlockChange& change);
    void writeEpoch(const EpochChange& change);

    LedgerFile& file_;
    std::int64_t incarnation_;
    std::int64_t wallNs_;
    std::vector<BlockChange> blocks_;
    std::unordered_map<std::int64_t, std::size_t> blockIndex_; // by the id of the block's column 0
    std::vector<EpochChange> epochs_;
    TotalsChange totals_;
    EventRun run_;
    bool finished_ = false;
};

} // namespace furrow
