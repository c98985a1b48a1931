#pragma once

#include "core/chat/chat_template.h"
#include "core/data/block/prepared_block.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/sample_row.h"
#include "core/run/status/unreadable_rows.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// One sample as it is trained, with where it came from.
struct SampleView {
    std::int64_t index = 0; ///< inside the chunk
    std::string file; ///< path or address of the hub
    std::int64_t row = 0; ///< inside the file, from 0
    std::uint64_t fingerprint = 0; ///< of the text: what a quarantine list names
    std::uint8_t flags = 0; ///< SampleFlag bits
    std::vector<std::uint32_t> tokens;
    std::string text; ///< decoded from the tokens
    std::vector<ChatStretch> learnt; ///< of the text of a conversation: what the loss counts
    std::optional<double> loss; ///< nats per token as it was trained; kept of a few samples that stood out
    std::optional<SampleRow>
        firstRow; ///< of a repeat, where duplicates of the whole data set are left out: where its text stands first
    std::int64_t rejectedFrom
        = 0; ///< of a pair of answers: the token with which the rejected one begins, with its prompt; else 0
};

struct ChunkView {
    std::int64_t block = 0;
    std::int32_t column = 0;
    ChunkSummary summary;
    std::int64_t stored = 0; ///< samples the block holds; filtered and unreadable rows have none
    ChunkState state = ChunkState::Pending; ///< in the epoch that was asked for, or the newest
    bool isParents = false; ///< left out of that epoch as the parent run trained it (isLeftToParent)
    bool keepsLosses = false; ///< some sample of the chunk has a loss
    std::vector<SampleView> samples; ///< in the order asked for
    std::vector<UnreadableRow> unreadable; ///< the block keeps the first 100 by name
    std::int64_t inCheckpoints = 0; ///< samples of a chunk that is not committed, which surviving checkpoints have

    /// Tokens of the samples for training, each with the end-of-text behind it: what the ledger counts as tokens.
    std::int64_t tokensWithEnds() const { return summary.tokens + summary.samples; }
};

/// Samples with a loss first, the highest or the lowest at the top; the others follow as they are stored.
enum class SampleOrder { AsStored, HighestLoss, LowestLoss };
template <>
inline constexpr std::array kClosedNames<SampleOrder> {
    ClosedName { SampleOrder::AsStored, "stored" },
    ClosedName { SampleOrder::HighestLoss, "highest" },
    ClosedName { SampleOrder::LowestLoss, "lowest" },
};

/// Which samples of a chunk are wanted.
struct ChunkPart {
    std::int64_t block = 0;
    std::int32_t column = 0;
    std::optional<std::int64_t> epoch; ///< whose losses; absent: the newest that has some
    SampleOrder order = SampleOrder::AsStored;
    std::int64_t first = 0; ///< place in this order
    std::int64_t count = INT64_MAX;
};

/// Brings samples of a chunk back to text. Reads the prepared block; one that is not in the cache now is prepared again
/// from the source. May be called while the run trains. An epoch, block or chunk that the run does not have is an
/// InvalidArgument.
Result<ChunkView> viewChunk(const RunPaths& paths, const ChunkPart& part);

} // namespace furrow
