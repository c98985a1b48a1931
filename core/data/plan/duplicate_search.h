#pragma once

#include "core/data/plan/block_planner.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/repeat_finder.h"

#include <functional>
#include <memory>
#include <set>

namespace furrow {

/// Reads all rows of a data set once, in the order in which its blocks are planned, and writes which of them repeat a
/// row before them. What is found depends on the data set alone, not on filters. Not thread-safe.
class DuplicateSearch {
public:
    struct Data {
        FileAccess& access;
        const DataManifest& manifest;
        std::vector<RowOptions> options; ///< one per source
        PlanRules rules;
        std::set<std::string> leftOut; ///< paths of files that are not read
    };
    using CauseOf = std::function<Error(
        const Error&)>; ///< what a failure to read the data means; Corrupt: damage that is passed over
    using Progress = std::function<bool(
        std::uint64_t doneBytes, std::uint64_t allBytes)>; ///< of text, `allBytes` about; false cancels

    /// @param data  what it refers to must live as long as this
    DuplicateSearch(const Data& data, std::shared_ptr<BlockCache> cache, CauseOf causeOf,
        std::size_t memoryBytes = RepeatFinder::kMemoryBytes);

    /// Hash of all that decides what is found, 64 hex digits.
    static std::string key(const DataManifest& manifest, const RunConfig& config, std::int64_t samplesPerBlock);

    /// Reads the rows. After an error of the data the same call can be repeated: it goes on with the block in which it
    /// failed. After one of the cache a new search is needed (isBroken).
    Status read(const Progress& progress);
    bool isBroken() const { return broken_; }
    /// After read(): writes the index (FORMAT.md).
    Status write(const std::string& key, const DuplicateIndexWriter::Sink& sink, const std::function<bool()>& goOn);

    /// Every file was read to its end.
    bool isComplete() const { return complete_; }
    std::uint64_t allBytes() const { return allBytes_; } ///< of text, about

private:
    Status readBlock(const Progress& progress);
    Status add(const ChunkText& samples, std::vector<RowStretch>::const_iterator& stretch);
    std::vector<RowStretch> stretchesOf(const PlannedBlock& block) const;

    Data data_;
    CauseOf causeOf_;
    BlockPlanner planner_;
    std::vector<std::unique_ptr<ChunkCollector>> collectors_; ///< one per source
    std::vector<std::int64_t> firstFiles_; ///< number of the first file of each source
    std::set<ChunkName> excluded_; ///< their rows are never trained, so that no row repeats them
    RepeatFinder finder_;
    std::optional<PlannedBlock> block_; ///< being read
    std::vector<RowStretch> stretches_;
    std::uint64_t rows_ = 0; ///< of the blocks that were read
    std::uint64_t doneBytes_ = 0;
    std::uint64_t allBytes_ = 0;
    bool complete_;
    bool broken_ = false;
};

} // namespace furrow
