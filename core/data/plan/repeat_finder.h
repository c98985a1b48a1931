#pragma once

#include "core/data/source/block_cache.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// Finds fingerprints that occur more than once among any number of rows, in bounded memory. What does not fit goes to
/// a temporary file of the cache, 12 bytes a row, sorted into 256 parts by the highest byte; a part that is larger than
/// the memory is read more than once. The order in which rows are added does not matter, and adding a row again changes
/// nothing. Not thread-safe.
class RepeatFinder {
public:
    static constexpr std::size_t kMemoryBytes = 64 << 20;

    /// @param memoryBytes  beside which it takes one bit a row
    explicit RepeatFinder(std::shared_ptr<BlockCache> cache, std::size_t memoryBytes = kMemoryBytes);

    /// @param row  its number, below 2^39
    Status add(std::uint64_t fingerprint, std::uint64_t row);
    /// Gives each fingerprint of more than one row with the lowest of these, by rising fingerprint. Nothing can be
    /// added afterwards.
    /// @param goOn  asked now and then, may be empty; false cancels
    Status finish(const std::function<Status(std::uint64_t fingerprint, std::uint64_t firstRow)>& onText,
        const std::function<bool()>& goOn);
    /// After finish(): a bit for each of so many rows, set for all but the first of each text.
    std::vector<std::uint64_t> repeatBits(std::uint64_t rows);
    /// Written to the temporary file, which is gone after finish().
    std::uint64_t spilledBytes() const { return spilledBytes_; }
    std::size_t capacity() const { return capacity_; }
    /// The most entries (16 bytes each) that it held at once.
    std::size_t mostHeld() const { return mostHeld_; }

private:
    struct Entry {
        std::uint64_t fingerprint = 0;
        std::uint64_t row = 0; ///< shifted by one; the lowest bit: the text occurs in another row too
    };
    struct Piece {
        std::uint64_t offset = 0;
        std::size_t entries = 0;
    };
    static constexpr std::size_t kParts = 256;

    void combine(std::vector<Entry>& entries);
    Status spill(std::size_t part);
    /// Fills held_ with the entries whose highest bits are `prefix`; false: they do not fit.
    Result<bool> load(const RandomAccessFile& file, std::uint64_t prefix, int bits);
    Status sortParts(
        const std::function<Status(std::uint64_t, std::uint64_t)>& onText, const std::function<bool()>& goOn);
    Status sort(const RandomAccessFile& file, std::uint64_t prefix, int bits,
        const std::function<Status(std::uint64_t, std::uint64_t)>& onText);

    std::shared_ptr<BlockCache> cache_;
    std::size_t capacity_; ///< entries
    std::optional<CacheFile> spill_;
    std::array<std::vector<Entry>, kParts> waiting_;
    std::array<std::vector<Piece>, kParts> pieces_;
    std::vector<Entry> held_;
    std::size_t waitingEntries_ = 0;
    std::uint64_t spilledBytes_ = 0;
    std::size_t mostHeld_ = 0;
    std::vector<std::uint64_t> bits_;
};

} // namespace furrow
