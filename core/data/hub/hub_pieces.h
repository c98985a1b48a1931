#pragma once

#include "core/data/source/block_cache.h"
#include "core/data/source/distant_source.h"
#include "core/data/hub/hub_spec.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace furrow {

/// Pieces of hub files that were fetched by ranges, kept in a cache while they come, so that whoever needs them again,
/// in this process, in the feeder of the run that comes of it, in another run, or after a kill, need not ask for them
/// again. A piece is a file of frames: where in the piece, how many bytes, the bytes, a checksum. One that a process
/// left behind goes on after its last whole frame. Trouble with the disk costs a download, no more. Thread-safe.
class HubPieces {
public:
    /// The cache is opened when the first piece is asked for: local data needs none.
    HubPieces(std::filesystem::path cacheFolder, std::uint64_t capBytes);
    explicit HubPieces(std::shared_ptr<BlockCache> cache);

    /// What there is of the piece of the file that begins at `offset`; "" for nothing.
    std::string find(const HubFile& file, std::uint64_t offset);
    /// The same, ready to be gone on with. For who has the turn to fetch it (takeFetchTurn).
    std::string takeUp(const HubFile& file, std::uint64_t offset);
    /// Where pieces of the file begin, in order.
    std::vector<std::uint64_t> offsets(const HubFile& file);
    /// More of the piece at `offset`, of which `there` bytes are there already.
    void keep(const HubFile& file, std::uint64_t offset, std::uint64_t there, std::string_view bytes);
    /// What was kept from `offset` on is needed no more.
    void drop(const HubFile& file, std::uint64_t offset);
    /// Puts aside what was kept from `offset` on.
    void forget(const HubFile& file, std::uint64_t offset);
    /// Puts aside all that came through this object: something in it cannot be what a file holds, and nothing tells
    /// what. False: nothing did.
    bool forgetSeen();
    /// What is put aside to come anew of a part that cannot be what the file holds: all of it, but while a
    /// FetchAnewOnce lives all of it once, and of each further page that is found damaged that page, once.
    /// @param page  of the part, in which that was found
    ByteRange toComeAnew(const HubFile& file, const ByteRange& part, const ByteRange& page);
    /// The cache that they are in; null: it could not be opened.
    std::shared_ptr<BlockCache> cache();

private:
    friend class FetchAnewOnce;
    struct OnDisk {
        std::string bytes; ///< of whole frames
        std::uint64_t framesEnd = 0; ///< where they end in the file on disk
        std::uint64_t fileBytes = 0;
    };
    OnDisk read(const HubFile& file, std::uint64_t offset);
    void noteSeen(const std::string& name);

    std::filesystem::path folder_;
    std::uint64_t capBytes_ = 0;
    std::mutex mutex_;
    bool opened_ = false; ///< guarded by mutex_
    std::shared_ptr<BlockCache> cache_; ///< guarded by mutex_
    std::set<std::string> seen_; ///< guarded by mutex_; names of pieces that were read or kept
    int once_ = 0; ///< guarded by mutex_; how many FetchAnewOnce live
    // guarded by mutex_; where parts and pages begin that came anew, while one of them lives
    std::set<std::string> partsAnew_;
    std::set<std::string> pagesAnew_;
};

/// While this lives, a part that looks damaged comes anew once, and each page of it: who looks for all the damage in it
/// meets one place after the other, and a page that came wrong twice is what the file holds.
class FetchAnewOnce {
public:
    /// @param pieces  null: nothing is kept, and each reader asks for itself
    explicit FetchAnewOnce(std::shared_ptr<HubPieces> pieces);
    ~FetchAnewOnce();
    FetchAnewOnce(const FetchAnewOnce&) = delete;
    FetchAnewOnce& operator=(const FetchAnewOnce&) = delete;

private:
    std::shared_ptr<HubPieces> pieces_;
};

/// How a file of the hub is called in a cache: what the hub promises of its content (SHA-256, else git's name),
/// whatever repository it is in.
std::string contentName(const HubFile& file);
/// How the piece that begins at `offset` is called there.
std::string pieceName(const HubFile& file, std::uint64_t offset);
inline constexpr std::size_t kSha256Digits = 64;
bool isSha256(std::string_view text);
/// What the name of a whole download ends with.
inline constexpr const char* kWholeEnding = ".download";
/// Beside a whole file of which nothing is promised: its SHA-256 when it arrived, in hex.
inline constexpr const char* kArrivedEnding = ".sha256";
std::filesystem::path arrivedNote(const std::filesystem::path& whole);

/// Where the last piece of a file begins: it is small, because it is for the footer of Parquet.
std::uint64_t tailOffset(std::uint64_t fileBytes);

/// The name of a file of the cache is that of a piece.
bool isPiece(const std::string& fileName);
/// Whether a piece on disk is of whole frames and stands under its own name; Corrupt when not.
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
