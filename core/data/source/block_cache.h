#pragma once

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace furrow {

/// One file of the cache, for `furrowctl cache list`.
struct CacheEntry {
    std::string folder; ///< "blocks", "expanded", "downloads" or "duplicates"
    std::string fileName;
    std::uint64_t sizeBytes = 0;
    std::int64_t lastUsedWallNs = 0;
    bool pinned = false;
    bool quarantined = false;
};

inline constexpr const char* kBlocks = "blocks";
inline constexpr const char* kExpanded = "expanded";
inline constexpr const char* kDownloads = "downloads";
inline constexpr const char* kDuplicates = "duplicates";
inline constexpr const char* kExpandedEnding = ".checked"; ///< of the names in "expanded"

/// InvalidArgument where a folder inside a cache is a link, or no folder: no cache is opened there.
Status refuseLinksInCache(const std::filesystem::path& folder);

/// A file that grows inside the cache under a temporary name. Removed unless published. Not thread-safe.
class CacheFile {
public:
    CacheFile(CacheFile&&) noexcept;
    ~CacheFile();
    /// Makes room first; a full cache says how to enlarge it.
    Status append(const void* data, std::size_t sizeBytes);
    std::uint64_t sizeBytes() const;
    /// Where it lies while it grows, to be read by its owner.
    const std::filesystem::path& path() const;

private:
    friend class BlockCache;
    struct State;
    explicit CacheFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// How this process uses caches.
struct CacheUse {
    /// Told each second why it waits for the lock of a cache, which others hold for the blink of an eye, unless they
    /// are stopped while they do: "waits for ...". From the thread that waits. Without one the log is told, once a
    /// wait.
    std::function<void(const Message& why)> tellWait;
    /// Then whoever waits for the lock gets Busy, and so do those after it at once, until somebody gets it.
    std::chrono::milliseconds patience = std::chrono::seconds(60);
    /// Asked before anything in a cache is written or removed, by any thread: an error, which the caller gets, where
    /// another folder may have been put in its place.
    std::function<Status()> mayChange;
};
/// For all caches of this process. Not while one is in use. A wait ends with Cancelled when the StopRequest of the
/// process is asked to end.
void setCacheUse(CacheUse use);

/// The cache of prepared blocks, expanded and downloaded files and lists of duplicates of one workspace, shared by any
/// number of processes. Files are published whole (temporary name, fsync, rename, folder fsync) or not at all. The size
/// of everything in the folder, temporaries included, stays below the cap, but for the one piece that each process may
/// be writing just now: room is made before a write, least recently used first, never a file that a living process has
/// pinned. What a dead process left is swept. A file that has no name of the cache's (32 or 64 hex digits and an ending
/// of its own) is somebody's: it does not count and is never removed. Thread-safe.
class BlockCache : public std::enable_shared_from_this<BlockCache> {
public:
    /// @param capBytes  0: no cap (for listing)
    static Result<std::shared_ptr<BlockCache>> open(
        const std::filesystem::path& folder, std::uint64_t capBytes, FileSystem& files = realFileSystem());
    ~BlockCache();
    BlockCache(const BlockCache&) = delete;
    BlockCache& operator=(const BlockCache&) = delete;

    const std::filesystem::path& folder() const;
    std::uint64_t capBytes() const;
    std::filesystem::path path(const std::string& sub, const std::string& fileName) const;

    /// The path when the file is there; marks it as used. `sub` is one of the four folders everywhere.
    std::optional<std::filesystem::path> find(const std::string& sub, const std::string& fileName);
    Result<CacheFile> create();
    /// Gives the file its name. One that is there already has the same content (names are keys) and is kept.
    Status publish(CacheFile file, const std::string& sub, const std::string& fileName);
    /// Adds to the end of a file that grows under its own name over the lives of several processes; the first bytes
    /// make it. Makes room first. Nothing is synced: who reads it must be able to tell damage. Busy: the file does not
    /// end at `offset` (any more).
    Status append(const std::string& sub, const std::string& fileName, std::uint64_t offset, const void* data,
        std::size_t sizeBytes);
    /// A file that has grown is whole and gets its name, still not synced.
    Status complete(const std::string& sub, const std::string& fileName, const std::string& wholeName);
    /// The right to do what one process at a time should; freed with the lock, or with the process. Busy: another has
    /// it.
    /// @param name  of what is done, fit for a file
    Result<FileLock> claim(const std::string& name);
    /// The lock that stands for it.
    std::filesystem::path claimFile(const std::string& name) const;
    /// What nobody needs any more, if it is there.
    void remove(const std::string& sub, const std::string& fileName);
    /// Cuts off what was not written to its end.
    void cut(const std::string& sub, const std::string& fileName, std::uint64_t bytes);
    /// Puts a damaged file aside under a name that nobody opens; it is the first to be evicted.
    Status quarantine(const std::string& sub, const std::string& fileName);

    /// These files (of "blocks" and of "expanded") stay while this object lives. Replaces the former set of `owner`.
    Status pin(const std::string& owner, std::span<const std::string> fileNames);

    Result<std::vector<CacheEntry>> list() const;
    /// The same of a cache that is only looked at: makes and changes nothing, also where there is no cache.
    static std::vector<CacheEntry> listOf(const std::filesystem::path& folder);
    Result<std::uint64_t> usedBytes() const;
    /// Whether so much can be written: below the cap, when everything went that may be evicted.
    bool hasRoomFor(std::uint64_t bytes) const;
    /// What an older Furrow left under names that nothing reads any more (texts in "expanded" without checksums) and no
    /// process has pinned.
    struct Outdated {
        std::int64_t files = 0;
        std::uint64_t bytes = 0;
    };
    Result<Outdated> removeOutdated();
    /// Evicts unpinned files, least recently used first, until at most `bytes` are left. Returns the bytes freed.
    Result<std::uint64_t> trim(std::uint64_t bytes);

private:
    friend class CacheFile;
    struct State;
    explicit BlockCache(std::unique_ptr<State> state);
    class Evicted;
    Status reserve(std::uint64_t bytes, Evicted& evicted);
    static Error fullCache(const State& cache, std::uint64_t used, std::uint64_t bytes);
    std::unique_ptr<State> state_;
};

} // namespace furrow
