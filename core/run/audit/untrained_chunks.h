#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/recount.h"
#include "core/tracker/chunk_digests.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace furrow {

// Rows, windows, tokens and fingerprints that a ledger has of chunks in no weights yet against their blocks: of trained
// ones manifests and claims speak too, of these nothing but the block. Internal to the audit and the repair.

/// A chunk of which the ledger says something else than its block.
struct OtherContent {
    PreparedContent prepared; ///< what the block says
    bool inFingerprintsAlone = false;
};

/// Chunks that are not committed, of all epochs that are open: in a closed one they were left out by name.
class UntrainedChunks {
public:
    enum class What { All, Fingerprints };
    /// @param what  is compared: of a source that is not packed nobody knows the windows
    static Result<UntrainedChunks> of(LedgerReader& ledger, What what = What::All);
    bool hasAnyOf(std::int64_t block) const;
    /// @param prepared  what preparing the block gave, which is as a whole what the ledger recorded
    void compare(std::int64_t block, const std::vector<PreparedChunk>& prepared);
    /// Those of which the ledger still says something else than the blocks that were compared, with what these say.
    /// Asks the ledger again: a run in training may have prepared one meanwhile.
    Result<std::vector<OtherContent>> differing(LedgerReader& ledger) const;

private:
    bool isAsPrepared(const ChunkCell& cell, const PreparedChunk& prepared) const;
    bool hasFingerprintOf(const ChunkCell& cell, const PreparedChunk& prepared) const;

    What what_ = What::All;
    std::vector<ChunkCell> cells_; // by block
    std::vector<ChunkDigest> digests_; // by id
    std::vector<PreparedContent> differing_;
};

/// "chunk 3 of block 1: its rows, windows or tokens in the prepared block are not those that the tracker recorded".
/// @param where  they were found
Message otherContentInWords(ChunkId chunk, const Message& where);
/// Of a chunk whose block is as a whole what the tracker recorded.
Message otherFingerprintsInWords(ChunkId chunk, const Message& where);
Message inWords(const OtherContent& other, const Message& where);

/// What prepared blocks hold, by their digests: who compares several ledgers with the same blocks reads each once.
struct BlocksRead {
    std::map<std::string, std::vector<PreparedChunk>> chunks;
};

constexpr std::uint64_t kAllOfTheCache = std::numeric_limits<std::uint64_t>::max();
/// The chunks that differ, of the prepared blocks that lie in the cache and are those that the ledger recorded. A block
/// that is not there, or is damaged, says nothing: the feeder compares it when it is prepared again.
/// @param mostBytes  reads about as much of the blocks
/// @param known  is not read again, and gets what is read
Result<std::vector<OtherContent>> differenceFromBlocks(const RunPaths& paths, const RunFile& file, LedgerReader& ledger,
    std::uint64_t mostBytes = kAllOfTheCache, BlocksRead* known = nullptr);

} // namespace furrow
