#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// What became of the rows of one chunk. They add up: samples + filtered + failed + heldOut + duplicates == rows.
struct ChunkSummary {
    std::int64_t rows = 0;
    std::int64_t samples = 0; ///< to be trained
    std::int64_t filtered = 0; ///< also those excluded by the quarantine list
    std::int64_t failed = 0; ///< unreadable
    std::int64_t heldOut = 0;
    std::int64_t duplicates = 0; ///< left out as duplicates; 0 with the policy `report`
    std::int64_t repeats = 0; ///< of `samples`: texts that occur before in the block (policy `report`)
    std::int64_t invalidUtf8 = 0; ///< of `samples`: with broken UTF-8, kept byte for byte
    std::int64_t tokens = 0; ///< of the samples to be trained, without end-of-text
    std::uint64_t textBytes = 0; ///< of the samples to be trained
    std::uint64_t digest = 0; ///< sum of the fingerprints of the samples to be trained: independent of their order
    std::int64_t learnt = 0; ///< of `tokens`: those that the loss counts; all of plain text
    std::int64_t tooLong = 0; ///< of `samples`, or of `filtered` where they are left out: longer than a window
    std::int64_t dropped = 0; ///< characters of all stored samples that have no token, where the tokenizer drops text
    bool operator==(const ChunkSummary&) const = default;
};

/// Why a sample of a prepared block is or is not trained.
enum SampleFlag : std::uint8_t {
    SampleHeldOut = 1,
    SampleRepeat
    = 2, ///< its text occurs before: in the data set where that was looked for (policy `skip`), else in the block
    SampleLeftOut = 4, ///< not trained: held out, excluded, or a repeat under the policy `skip`
    SampleExcluded = 8, ///< on the quarantine list; counted as filtered
    SampleTooLong = 16, ///< longer than a window; with SampleLeftOut counted as filtered
    SampleUnusable = 32, ///< cannot be trained, why is among the issues; counted as failed
};

/// The samples of one chunk, in source order. Filtered and unreadable rows have no sample, excluded ones have.
struct ChunkText {
    std::vector<std::uint32_t> tokens; ///< of all samples, one after the other
    std::vector<std::uint8_t> learnt; ///< of each token: 1 when the loss counts it. Empty for plain text, where all
                                      ///< count and the end-of-text behind each sample too
    std::vector<std::uint64_t> offsets; ///< samples + 1 entries: where each begins in `tokens`
    std::vector<std::uint64_t> fingerprints; ///< xxh3 of the text
    std::vector<std::int32_t> files; ///< index of the file in the source
    std::vector<std::int64_t> rows; ///< row number inside the file
    std::vector<std::uint8_t> flags; ///< SampleFlag bits

    std::int64_t count() const { return static_cast<std::int64_t>(flags.size()); }
};

/// A row that could not be read, by name.
struct RowIssue {
    std::int32_t file = 0;
    std::int64_t row = 0; ///< inside the file
    std::string what;
    bool operator==(const RowIssue&) const = default;
};

/// A prepared block on disk, read chunk by chunk (FORMAT.md). Const methods are thread-safe.
class PreparedBlock {
public:
    /// Checks header and chunk table, not the chunks. Corrupt names the file; a newer format is InvalidArgument.
    static Result<PreparedBlock> open(const std::filesystem::path& path);

    int chunkCount() const { return static_cast<int>(chunks_.size()); }
    const ChunkSummary& summary(int column) const { return chunks_[static_cast<std::size_t>(column)].summary; }
    std::vector<ChunkSummary> summaries() const;
    /// At most kMaxIssues, in the order of the data; the counts in the summaries are complete.
    const std::vector<RowIssue>& issues() const { return issues_; }
    std::uint32_t vocabularySize() const { return vocabularySize_; }
    /// SHA-256 of everything in the file, 64 hex digits: equal for a block that was prepared again.
    const std::string& digest() const { return digest_; }

    /// The name that the block was made for, 32 hex digits; "" of blocks that an older Furrow made.
    const std::string& key() const { return key_; }
    /// Corrupt, where it was made for another name than `fileName` (KEY.block): a copy of it lies in the place of
    /// another.
    Status checkName(const std::string& fileName) const;

    /// Reads one chunk (pread) and checks its hash.
    Result<ChunkText> readChunk(int column) const;
    /// Reads the whole file once and checks every byte.
    Status verify() const;

    static constexpr std::size_t kMaxIssues = 100;

private:
    struct Entry {
        std::uint64_t offset = 0;
        std::uint64_t sizeBytes = 0;
        std::uint64_t hash = 0;
        std::uint64_t samples = 0; ///< stored, also those left out
        std::uint64_t tokens = 0; ///< stored, also of those left out
        ChunkSummary summary;
    };
    friend class BlockWriter;

    explicit PreparedBlock(RandomAccessFile file);
    Status readHeader();
    Status readFooter(const std::string& footer);

    RandomAccessFile file_;
    std::string name_;
    std::vector<Entry> chunks_;
    std::vector<RowIssue> issues_;
    std::uint32_t vocabularySize_ = 0;
    int tokenBytes_ = 2;
    std::uint32_t version_ = 1;
    bool isMasked_ = false;
    std::uint64_t contentBytes_ = 0; ///< header and chunks, before the footer
    std::string contentSha256_;
    std::string digest_;
    std::string key_;
};

} // namespace furrow
