#pragma once

#include "core/data/plan/block_plan.h"
#include "core/data/plan/damaged_rows.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/block/prepared_block.h"
#include "core/data/plan/quarantine.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/row_reader.h"

#include <optional>
#include <unordered_set>

namespace furrow {

/// What decides whether a row is trained.
struct SampleRules {
    std::int64_t minChars = 1;
    std::int64_t maxChars = 0; ///< 0: no limit
    bool asciiOnly = false;
    double heldOutPercent = 0;
    bool skipDuplicates = false;
    std::uint64_t mostChunkBytes = UINT64_MAX; ///< of text in a chunk
    std::shared_ptr<const Quarantine> quarantine; ///< null: nothing is left out by name

    /// Too short, too long or not ASCII.
    bool isFiltered(std::string_view text) const;
    /// Filtered, or on the quarantine list (whose error it passes on).
    Result<bool> isLeftOut(std::string_view text) const;
    /// What is known of a sample that is not filtered before it becomes tokens: SampleFlag bits. Passes on the error of
    /// the quarantine list.
    Result<std::uint8_t> flagsOf(std::string_view text, std::uint64_t fingerprint, bool isRepeat) const;
};
/// The flags of a sample once it is tokens. @param flags  those of before
std::uint8_t flagsOnceEncoded(std::uint8_t flags, const SampleTokens& made, const SampleEncoder& encoder);

/// What becomes of a row in a block.
enum class RowFate { Trained, Duplicate, Filtered, Failed, HeldOut };
/// Of one that is a sample. @param flags  once it is tokens
RowFate fateOf(std::uint8_t flags);

/// InvalidArgument when the quarantine list of the manifest cannot be read.
Result<SampleRules> sampleRules(const RunConfig& config, const DataManifest& manifest);

/// The texts of one chunk before they become tokens.
struct RawChunk {
    std::string bytes; ///< of all samples, one after the other
    std::vector<std::size_t> ends; ///< of each sample in `bytes`
    std::vector<std::uint8_t> broken; ///< of each sample: 1 where bytes that are no characters were kept or replaced
    ChunkText samples; ///< all but tokens, what is learnt of them, and offsets
    ChunkSummary summary; ///< what is known of rows that are no samples; the rest tells countSamples()
    std::vector<RowIssue> issues; ///< at most PreparedBlock::kMaxIssues
    std::uint64_t sourceBytes = 0;
    bool isConversation = false; ///< the samples are (Row)

    std::string_view text(std::size_t sample) const;
    void addIssue(std::int32_t file, std::int64_t row, const std::string& what);
};
/// Completes the summary once the samples are tokens: what became of each stands in its flags.
void countSamples(RawChunk& chunk);

/// Reads the rows of one source in order, filters, fingerprints and marks them. Keeps its file open from one block to
/// the next, so that blocks in order are read in one go. Not thread-safe.
class ChunkCollector {
public:
    /// @param access, source  must live as long as this
    ChunkCollector(FileAccess& access, const DataSource& source, const RowOptions& options, const SampleRules& rules);

    /// From now on a repeat is a row whose text stands in a row before it anywhere in the data set; without this,
    /// anywhere before it in its block.
    /// @param firstFile  number of the first file of this source among all files of the data set
    void know(std::shared_ptr<const DuplicateIndex> duplicates, std::int64_t firstFile);
    void beginBlock(const PlannedBlock& block);
    /// The next `rows` rows of the block.
    Result<RawChunk> collect(std::int64_t rows);
    /// After collect() failed with Corrupt: the same rows without those that are damaged, which count as unreadable.
    /// The error of collect() where the format does not tell which these are. What looks damaged is read once more: it
    /// may have come wrong from a network.
    Result<RawChunk> collectAround(std::int64_t rows);
    /// Those that were passed over since beginBlock().
    const std::vector<DamagedRows>& damaged() const { return damaged_; }
    /// The rows are conversations.
    bool readsConversations() const { return options_.conversation != ConversationForm::None; }

private:
    /// Where a chunk begins.
    struct Place {
        std::size_t segment = 0;
        std::int64_t rowInSegment = 0;
        std::uint64_t hash = 0;
    };
    enum class Damage { Ends, IsPassedOver };

    Result<RawChunk> collect(std::int64_t rows, Damage damage);
    std::int64_t passOver(std::int64_t most, const Message& why, RawChunk& chunk);
    Status openSegment();
    Status checkSegment() const; ///< whether its rows are those that were planned
    Status take(const Row& row, std::int64_t rowInFile, RawChunk& chunk);
    bool isRepeat(std::uint64_t fingerprint, std::int64_t rowInFile);

    FileAccess& access_;
    const DataSource& source_;
    RowOptions options_;
    SampleRules rules_;
    std::shared_ptr<const DuplicateIndex> duplicates_;
    std::int64_t firstFile_ = 0;

    std::vector<Segment> segments_;
    std::size_t segment_ = 0;
    std::int64_t rowInSegment_ = 0;
    std::uint64_t segmentHash_ = 0; ///< of the rows of the segment read so far
    Place chunkBegin_; ///< of the chunk that was asked for last
    std::optional<Error> failure_; ///< of that chunk
    std::optional<RowPlace> failedAt_; ///< where reading failed last in this block; the file is that of the source
    bool canPass_ = false; ///< the failure is damage, and the format tells which rows are lost by it
    std::vector<DamagedRows> damaged_;
    std::unordered_set<std::uint64_t> seen_; ///< fingerprints of the block; empty with duplicates_
    // the open file and the row it stands before
    std::unique_ptr<RowReader> reader_;
    std::int32_t readerFile_ = -1;
    std::int64_t readerRow_ = 0;
};

} // namespace furrow
