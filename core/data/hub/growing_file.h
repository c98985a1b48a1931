#pragma once

#include "core/base/git_blob.h"
#include "core/base/hash.h"
#include "core/data/source/block_cache.h"
#include "core/data/hub/hub_spec.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

/// Checksums of what was written of a part, stretch by stretch, where no SHA-256 of the whole will tell what a loss of
/// power made of it. A file of its own beside the part: u64 end of the stretch in the part, u64 XXH3 of it.
class PartSums {
public:
    PartSums(BlockCache& cache, std::string name);
    const std::string& name() const { return name_; }
    /// How many bytes of the part are what was written. What is noted of more is forgotten.
    std::uint64_t proven(const std::filesystem::path& part);
    Status add(std::uint64_t begin, std::string_view stretch);
    void remove();

private:
    struct Note {
        std::uint64_t end = 0;
        std::uint64_t sum = 0;
    };
    BlockCache& cache_;
    std::string name_;
    std::uint64_t sizeBytes_ = 0;
};

/// A whole file that grows in the cache under the name of a part until all of it is there.
class GrowingFile {
public:
    /// @param hasTurn  to fetch the file; else another run's part is growing, or stands still, and this is one beside
    /// it
    GrowingFile(BlockCache& cache, HubFile hub, bool hasTurn);

    /// Goes on behind what a process before left.
    Status begin();
    /// What there is of the file, not all of it on disk yet.
    std::uint64_t sizeBytes() const { return onDisk_ + buffer_.size(); }
    Status append(std::string_view bytes);
    Status write();
    bool isPromised() const { return !hub_.sha256.empty(); }
    /// All bytes are there: they are what was promised of them, by SHA-256 or by git's name; true where nothing was.
    bool isAsPromised();
    /// Of all bytes: nothing may be appended any more.
    const std::string& sha256();
    Status complete(const std::string& wholeName);
    void remove();

private:
    void count(std::string_view bytes);

    BlockCache& cache_;
    HubFile hub_;
    GitBlobName git_; ///< of what is not in LFS
    std::string name_;
    PartSums sums_;
    Sha256 sha_;
    std::string whole_; ///< sha256()
    std::uint64_t onDisk_ = 0;
    std::string buffer_;
};

} // namespace furrow
