#pragma once

#include "core/data/source/block_cache.h"
#include "core/data/source/cache_names.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace furrow {

/// What lost its name under the lock of the cache is removed when the lock is let go of: with many files, or on a slow
/// disk, that takes long, and nobody waits for it then. Made before the lock is taken.
class BlockCache::Evicted {
public:
    explicit Evicted(FileSystem& files)
        : files_(files)
    {
    }
    Evicted(const Evicted&) = delete;
    Evicted& operator=(const Evicted&) = delete;
    ~Evicted();
    void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }

private:
    FileSystem& files_;
    std::vector<std::filesystem::path> paths_;
};

struct BlockCache::State {
    // set when opened, then constant
    std::filesystem::path folder;
    std::uint64_t capBytes = 0;
    FileSystem* files = nullptr; ///< of everything that must survive a power loss
    std::string member;
    std::optional<FileLock> memberLock;
    std::atomic<int> temporaries { 0 };
    std::atomic<bool> waitedInVain { false };
    // guarded by mutex
    std::mutex mutex;
    std::map<std::string, std::set<std::string>> pins;
    mutable std::set<std::filesystem::path> told; ///< of tellStays()

    std::uint64_t limit() const { return capBytes == 0 ? UINT64_MAX : capBytes; }
    std::filesystem::path nextTemporary(const char* ending = "");
    std::filesystem::path memberFile(const std::string& name, const char* ending) const;
    /// To be held for moments only: nothing is read from a source or a network with it.
    Result<FileLock> lock();
    std::uint64_t used() const;
    /// Of files that have no name yet.
    std::uint64_t growing() const;
    /// What used() is at most, or nothing when that is not known.
    std::optional<std::uint64_t> notedUse() const;
    /// Lock held. Written in place and not synced: after a power loss open() makes it right.
    Status noteUse(std::uint64_t bytes) const;
    /// Bytes that no eviction would free. Mutex held.
    std::uint64_t kept() const;
    /// Of a file that somebody gave a name of the cache's; once.
    void tellStays(const std::filesystem::path& file) const;
    /// Removes what dead members left. Call with the lock held.
    void sweep() const;
    std::set<std::string> ownPins() const;
    /// Pins of all living members. Call with mutex held.
    std::set<std::string> allPins() const;
    bool hasOtherMembers() const;
    std::vector<CacheEntry> entries() const;
    /// Takes its name from a file, which is removed when the lock is free again. Lock and mutex held.
    bool evict(const CacheEntry& entry, Evicted& evicted);
    /// Evicts until at most `target` bytes are used or nothing more may go. Returns the bytes freed. Lock and mutex
    /// held.
    std::uint64_t evictTo(std::uint64_t target, std::uint64_t usedNow, Evicted& evicted);
};

} // namespace furrow
