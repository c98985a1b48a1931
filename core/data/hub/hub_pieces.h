#pragma once

#include "core/data/block_cache.h"
#include "core/data/hub/hub_spec.h"

#include <mutex>
#include <optional>

namespace furrow {

/// Pieces of hub files that were fetched by ranges, kept in a cache with a checksum each, so that whoever looks at a file again, in this process or in
/// the feeder of the run that comes of it, need not ask for them again. Trouble with the disk costs a download, no more. Thread-safe.
class HubPieces {
public:
    /// Finds and keeps. The cache is opened when the first piece is asked for: local data needs none.
    HubPieces(std::filesystem::path cacheFolder, std::uint64_t capBytes);
    /// Only finds.
    explicit HubPieces(std::shared_ptr<BlockCache> cache);

    /// What was kept of the file from `offset` on.
    std::optional<std::string> find(const HubFile& file, std::uint64_t offset);
    void keep(const HubFile& file, std::uint64_t offset, std::string_view bytes);
    /// Puts aside what was kept from `offset` on.
    void forget(const HubFile& file, std::uint64_t offset);

private:
    std::shared_ptr<BlockCache> cache();

    std::filesystem::path folder_;
    std::uint64_t capBytes_ = 0;
    bool keeps_;
    std::mutex mutex_;
    bool opened_ = false; ///< guarded by mutex_
    std::shared_ptr<BlockCache> cache_; ///< guarded by mutex_; null: it could not be opened
};

/// How a file of the hub is called in a cache: what the hub promises of its content (SHA-256, else git's name), whatever repository it is in.
std::string contentName(const HubFile& file);
inline constexpr std::size_t kSha256Digits = 64;

/// Where the last piece of a file begins: it is small, because it is the footer of Parquet.
std::uint64_t tailOffset(std::uint64_t fileBytes);

/// The name of a file of the cache is that of a piece.
bool isPiece(const std::string& fileName);
/// Whether a piece on disk is whole and stands under its own name; Corrupt when not.
Status checkPiece(const std::filesystem::path& path, const std::string& fileName);

/// While this lives, what this process looks at on the hub is kept in a cache. One at a time counts: the newest.
class KeepHubPieces {
public:
    /// @param cacheFolder  RunPaths::cacheFolder()
    KeepHubPieces(const std::filesystem::path& cacheFolder, double cacheGiB);
    ~KeepHubPieces();
    KeepHubPieces(const KeepHubPieces&) = delete;
    KeepHubPieces& operator=(const KeepHubPieces&) = delete;
    /// Of the newest that lives; null: nothing is kept. Any thread.
    static std::shared_ptr<HubPieces> current();

private:
    std::shared_ptr<HubPieces> pieces_;
};

} // namespace furrow
