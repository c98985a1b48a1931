#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/recount.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace furrow {

// Rows, windows and tokens that a ledger has of chunks in no weights yet against their prepared blocks: of trained ones
// manifests and claims speak too, of these nothing but the block. Internal to the audit and the repair.

/// Chunks that are not committed, of all epochs that are open: in a closed one they were left out by name.
class UntrainedChunks {
public:
    static Result<UntrainedChunks> of(LedgerReader& ledger);
    bool hasAnyOf(std::int64_t block) const;
    /// @param prepared  what preparing the block gave
    void compare(std::int64_t block, const std::vector<PreparedChunk>& prepared);
    /// Those of which the ledger still says something else than the prepared blocks that were compared, with what these
    /// say. Asks the ledger again: a run in training may have prepared one meanwhile.
    Result<std::vector<PreparedContent>> differing(LedgerReader& ledger) const;

private:
    std::vector<ChunkCell> cells_; // by block
    std::vector<PreparedContent> differing_;
};

/// "chunk 3 of block 1: its rows, windows or tokens in the prepared block are not those that the tracker recorded".
/// @param where  they were found
Message otherContentInWords(ChunkId chunk, const Message& where);

/// What prepared blocks hold, by their digests: who compares several ledgers with the same blocks reads each once.
struct BlocksRead {
    std::map<std::string, std::vector<PreparedChunk>> chunks;
};

constexpr std::uint64_t kAllOfTheCache = std::numeric_limits<std::uint64_t>::max();
/// The chunks that differ, of the prepared blocks that lie in the cache and are those that the ledger recorded. A block
/// that is not there, or is damaged, says nothing: the feeder compares it when it is prepared again.
/// @param mostBytes  reads about as much of the blocks
/// @param known  is not read again, and gets what is read
Result<std::vector<PreparedContent>> differenceFromBlocks(const RunPaths& paths, const RunFile& file,
    LedgerReader& ledger, std::uint64_t mostBytes = kAllOfTheCache, BlocksRead* known = nullptr);

} // namespace furrow
