#pragma once

#include "core/base/message.h"
#include "core/base/scratch_folder.h"
#include "core/data/source/block_cache.h"
#include "core/data/source/file_access.h"
#include "core/data/hub/hub_proofs.h"
#include "core/data/source/source_identity.h"

#include <deque>
#include <map>
#include <optional>
#include <set>

namespace furrow {

/// Reading rows of this file first brings it whole, or all that it expands to, into the cache.
bool fillsCache(const DataFile& file);
/// Why the whole of a file of the hub is not compared with what the hub promises; "" when it is, before a row of it is
/// trained.
Message whyNotCompared(const DataFile& file, std::uint64_t cacheBytes);

/// Access through the cache: a compressed file is expanded into it once, so that any offset is a seek.
class CachedAccess : public FileAccess {
public:
    /// @param identity  local files are checked by it at each read
    CachedAccess(std::shared_ptr<BlockCache> cache, std::shared_ptr<SourceIdentity> identity);
    Result<std::shared_ptr<const ByteSource>> stored(const DataFile& file) override;
    Result<std::unique_ptr<ByteStream>> plainFrom(const DataFile& file, std::uint64_t offset) override;
    const OpenTimes& openTimes() const { return direct_.openTimes(); }
    HubProofs& proofs() { return *proofs_; }
    std::uint64_t capBytes() const { return cache_->capBytes(); }
    /// Of distant files that are read by parts.
    const std::shared_ptr<HubPieces>& pieces() const { return pieces_; }
    /// From now on nothing that this disk keeps of a source is believed: what was expanded before is compared with what
    /// its file expands to, a distant file with its SHA-256, also one of which only parts were read; where no SHA-256
    /// is promised, or the cache has no room for the whole, it is read from its server once more.
    void compareCopies() { comparesCopies_ = true; }
    /// What was kept of the beginnings of distant files from looking at them stays until each has come as a whole, as
    /// far as it is a small part of the cache: it was used longest ago, would go first, and would be fetched twice.
    void keepBeginnings(const DataManifest& manifest);
    /// Reading the file failed: a copy in the cache that is damaged, or not what the hub promises, is put aside. True:
    /// there was one.
    bool doubt(const DataFile& file);
    /// Why the file is not asked for any more: it came wrong each time. Null: it did not.
    const Error* cameWrong(const DataFile& file) const;

private:
    /// What holds the file, on this disk: a file of the hub is downloaded whole, an archive that is compressed as a
    /// whole is expanded.
    Result<std::shared_ptr<const ByteSource>> local(const DataFile& file);
    Result<std::shared_ptr<const ByteSource>> read(const DataFile& file, BlockCache& cache);
    Error arrivedWrong(const DataFile& file, const Error& how);
    Result<std::shared_ptr<const ByteSource>> proven(const DataFile& file);
    void pinBeginnings();
    Status beginAfresh();
    Result<std::shared_ptr<const ByteSource>> expanded(const DataFile& file);
    Result<std::shared_ptr<const ByteSource>> expandedInMemory(const DataFile& file);
    Result<std::shared_ptr<const ByteSource>> rightCopy(const DataFile& file, const std::string& fileName);
    Status expand(const DataFile& file, const std::string& fileName);
    Error largerThanCache(const DataFile& file, ByteStream& rest, std::vector<char>& piece, std::uint64_t bytes) const;
    /// Its plain text while it is being expanded.
    Result<std::unique_ptr<ByteStream>> expanding(const DataFile& file);

    struct Open {
        std::string fileName;
        std::shared_ptr<const ByteSource> source;
    };
    std::shared_ptr<BlockCache> cache_;
    std::shared_ptr<SourceIdentity> identity_;
    std::unique_ptr<HubProofs> proofs_ = std::make_unique<HubProofs>();
    std::shared_ptr<HubPieces> pieces_;
    DirectAccess direct_;
    bool comparesCopies_ = false;
    std::set<std::string> beginnings_; ///< names of pieces that are pinned
    /// What is read from its server once more, and nothing that was there before.
    struct Afresh {
        ScratchFolder folder;
        std::shared_ptr<BlockCache> cache;
        DirectAccess access;
    };
    std::optional<Afresh> afresh_;
    std::map<std::string, int> arrivedWrong_; ///< path of a distant file -> how often in a row
    std::map<std::string, Error>
        unproven_; ///< path of a distant file that could not be compared, or came wrong too often -> why
    std::set<std::string> compared_; ///< names of expanded files
    std::deque<Open> whole_; ///< the downloads used last, by the paths of their files: each is hashed when it is opened
    std::deque<Open> open_; ///< the expanded files used last, pinned while they are in here
};

} // namespace furrow
