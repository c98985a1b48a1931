#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/data/block_plan.h"
#include "core/data/file_access.h"
#include "core/data/inspect.h"
#include "core/data/prepared_block.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace furrow {

class Tokenizer;

/// A prepared block in the cache.
struct PreparedFile {
    std::string fileName; ///< below blockFolder()
    std::string digest; ///< equal for a block that was prepared again
    std::vector<ChunkSummary> chunks;
    bool fromCache = false;
    std::uint64_t sizeBytes = 0;
    std::uint64_t sourceBytes = 0; ///< of text read to make it; 0 from the cache
};

/// Finds the blocks of a data set in source order and prepares them. Not thread-safe: one thread, the feeder's
/// (preparing uses a second thread of its own for reading).
class BlockManager {
public:
    /// Opens the sources and checks them against the manifest that was frozen with the run; a file that changed since
    /// is InvalidArgument with a list of differences.
    static Result<BlockManager> open(const RunConfig& config, const std::string& manifest, std::int64_t samplesPerBlock,
        const std::filesystem::path& cacheFolder, std::shared_ptr<const Tokenizer> tokenizer);
    BlockManager(BlockManager&&) noexcept;
    ~BlockManager();

    /// The next block in the order of the data set; nullopt: every file came to a definite end, the last block is proven.
    Result<std::optional<PlannedBlock>> planNext();
    /// planNext() would download or expand a file into the cache.
    bool planningFillsCache() const;
    /// Why the last block is not proven yet, in words: "reading file 3 of 7". "" once it is.
    std::string unprovenReason() const;
    /// Goes on planning after a known block, by seek. Call before the first planNext.
    Status resumeAfter(const std::string& lastPlan);

    /// Columns of the chunks of a block that the quarantine list names.
    std::vector<std::int32_t> excludedChunks(std::int64_t block) const;
    /// A known block from what the ledger keeps of it.
    static Result<PlannedBlock> fromPlan(const std::string& plan);
    /// The block as it lies in the cache, every byte of it checked. NotFound: not there, or damaged and put aside.
    Result<PreparedFile> find(const PlannedBlock& block);
    /// The block from the cache (checked as by find), or made.
    /// @param goOn  asked between chunks, may be empty; false cancels
    Result<PreparedFile> prepare(const PlannedBlock& block, const std::function<bool()>& goOn = {});
    /// The name the prepared block has or would have below blockFolder().
    std::string fileName(const PlannedBlock& block) const;
    /// These files are not evicted by any process while this manager lives. Replaces the former set.
    Status pin(std::span<const std::string> fileNames);

    /// The cache can take another block as large as the largest one so far without giving up what is in use.
    bool hasRoom() const;
    const OpenTimes& openTimes() const;

    /// Where prepared blocks lie under the cache folder of a workspace.
    static std::filesystem::path blockFolder(const std::filesystem::path& cacheFolder);

private:
    struct State;
    explicit BlockManager(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
