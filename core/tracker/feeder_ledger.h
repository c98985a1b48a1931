#pragma once

#include "core/base/message.h"
#include "core/base/clock.h"
#include "core/tracker/sqlite/patience.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <span>

namespace furrow {

/// A block whose row range is certain.
struct NewBlock {
    std::int64_t block = 0; ///< index in the data set
    std::int32_t source = 0;
    std::int64_t firstRow = 0;
    std::vector<std::int64_t> chunkRows; ///< rows of each chunk
    std::string plan; ///< opaque to the tracker: how to find the block again (JSON)
    std::vector<std::int32_t> excluded; ///< columns of chunks that a person left out
};

/// What preparing a block showed.
struct PreparedChunk {
    RowCounts rows;
    std::int64_t tokens = 0;
    std::int32_t windows = 0; ///< 0: nothing to train; committed at once as empty
    std::uint64_t digest = 0; ///< of the chunk's sample hashes, order-independent sum
    std::int64_t repeats = 0; ///< as DataNotes
    std::int64_t invalidUtf8 = 0; ///< as DataNotes
};

/// The tracker as the feeder sees it: blocks become known, prepared, evicted. One connection, one thread.
class FeederLedger {
public:
    static Result<FeederLedger> open(const std::filesystem::path& tracker, const Clock& clock = systemClock());
    FeederLedger(FeederLedger&&) noexcept;
    ~FeederLedger();
    /// How long each call waits for others that write; without it 30 s.
    void setPatience(Patience patience);

    /// Adds blocks to every open epoch in one transaction, their chunks Pending. `ord` of a chunk is a pure function of
    /// (seed, epoch, window, block, column), see order.h; known blocks are ignored (safe to repeat after a crash).
    Status addBlocks(std::span<const NewBlock> blocks);
    /// No further block will come: the epoch's end is known.
    Status setLastBlockProven(std::int64_t blockCount);
    /// Why the last block is not proven yet, shown in words ("reading file 3 of 7").
    Status setUnprovenReason(const Message& reason);
    /// Pending -> Free for the chunks of all open epochs. The first digest is kept; another one later is Corrupt and
    /// the block's free chunks stop being claimable. Of a block that was prepared before, chunks that are in no weights
    /// and nobody holds, and of which the tracker says something else, are named in an event and stored anew.
    /// @param firstUnreadable  as DataNotes, of this block; of the first preparation only
    Status setPrepared(std::int64_t block, const std::string& fileName, const std::string& digest,
        std::span<const PreparedChunk> chunks, const Message& firstUnreadable = {});
    /// The prepared file is gone: Free -> Pending.
    Status setEvicted(std::int64_t block, const Message& cause);
    /// The block cannot be prepared: its chunks become Poisoned with this cause.
    Status setFailed(std::int64_t block, const Message& cause);
    /// The block is not prepared because what it is of is left out: its chunks become Excluded with this cause, in the
    /// epochs that are open. Later ones take that over, but of the cause kLeftOutWithItsFile: there they wait as
    /// before, the file may be as it was again.
    Status setLeftOut(std::int64_t block, const Message& cause);
    /// The block, which was never prepared, has less in it than was planned: another plan with the same chunks and
    /// rows.
    /// @param what  is missing, for noteLeftOut()
    Status replan(std::int64_t block, const std::string& plan, const Message& what);
    /// Rows that no block will have, by name; said once, however often it is called. The audit names them.
    /// @param takenBackBy  what makes it untrue; said after it, it is said once more
    Status noteLeftOut(const Message& what, const Message& takenBackBy = {});
    /// The feeder cannot go on until a person decides: the supervisor ends the attempt with this reason.
    Status giveUp(const Message& reason);
    /// No more blocks will become known in this attempt, for this reason, although the last one is not proven: the
    /// attempt ends as incomplete when the known ones are trained.
    Status endPlanning(const Message& reason);

    struct KnownBlock {
        std::int64_t block = 0;
        std::string plan;
    };
    enum class Reach {
        BehindStart, ///< what lies before the start of epoch 0 is not wanted yet: blocks that come before it in the
                     ///< claim order may become known
        All
    };
    /// Blocks that are not prepared and have unfinished chunks in an open epoch: groups in the order in which they will
    /// be claimed, the blocks of a group in source order, so that reading them is reading on. Their chunks are mixed
    /// anyway, and a group is prepared before it is trained.
    Result<std::vector<KnownBlock>> wanted(int limit, Reach reach = Reach::All);
    /// Prepared blocks that still have chunks to be trained in an open epoch (must not be evicted), and chunks free to
    /// claim. Trained chunks without a checkpoint hold no block: lost, they would be prepared again.
    struct Demand {
        std::vector<std::int64_t> neededBlocks;
        std::int64_t freeChunks = 0;
        std::int64_t knownBlocks = 0;
        bool lastBlockProven = false;
    };
    /// @param mostBlocks  enough for the one who asks
    Result<Demand> demand(std::int64_t mostBlocks = std::numeric_limits<std::int64_t>::max());
    Status heartbeat(const ProcessIdentity& self, const Message& doing);
    Result<DesiredState> desired();

private:
    struct State;
    explicit FeederLedger(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
