#pragma once

#include "core/base/result.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/block/prepared_block.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/types.h"

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace furrow {

/// A chunk in memory, packed into windows.
struct LoadedChunk {
    ChunkText text;
    std::unique_ptr<ChunkWindows> windows; ///< looks into `text`
};

/// Reads claimed chunks ahead on its own thread `loader`: pread, hash check, packing. Thread-safe.
class ChunkLoader {
public:
    struct Options {
        std::filesystem::path tracker;
        std::filesystem::path blockFolder;
        std::uint32_t endOfText = 0;
        WindowRules windows;
        std::int64_t seed = 0;
        bool shuffle = true;
    };
    static Result<std::unique_ptr<ChunkLoader>> start(const Options& options);
    ~ChunkLoader();
    ChunkLoader(const ChunkLoader&) = delete;
    ChunkLoader& operator=(const ChunkLoader&) = delete;

    /// Begins to read the chunk of a claim. Does not block.
    void prefetch(const Claim& claim);
    /// The chunk of a claim that was given to prefetch(); waits for it. Corrupt when file and ledger disagree: the
    /// claim is to be failed then, so that the feeder looks at the file and prepares the block again. Nothing is
    /// deleted here: names come from the run folder.
    Result<std::shared_ptr<const LoadedChunk>> take(const Claim& claim);
    /// Forgets everything read ahead: the claims were given back.
    void forget();

private:
    ChunkLoader(const Options& options, LedgerReader reader);
    void run(std::stop_token stop);
    Result<std::shared_ptr<const LoadedChunk>> load(const Claim& claim, const std::stop_token& stop);
    Result<ChunkText> readText(const Claim& claim, const std::filesystem::path& file, const std::string& digest);
    Result<PreparedBlock*> open(const Claim& claim, const std::filesystem::path& file, const std::string& digest);

    // set in the constructor, then constant
    Options options_;
    // touched on the loader thread only
    LedgerReader reader_;
    std::map<std::int64_t, PreparedBlock> open_; ///< newest few blocks
    // guarded by mutex_
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Claim> queue_;
    std::map<std::int64_t, std::optional<Result<std::shared_ptr<const LoadedChunk>>>>
        chunks_; ///< by claim; empty: not read yet

    std::jthread thread_;
};

} // namespace furrow
