#include "core/data/source/cached_access.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/source/came_wrong.h"
#include "core/data/source/checked_file.h"
#include "core/data/hub/hub_files.h"

namespace furrow {

namespace {

constexpr std::size_t kKeptOpen = 2;
constexpr std::size_t kSmallBytes = 1 << 20;
constexpr std::uint64_t kDownloadShare
    = 4; ///< of the cache: a larger file is read by ranges, or it would push out what is needed

std::string expandedName(const DataFile& file)
{
    const std::string& encoding = file.format.encoding;
    const std::string inside = file.member ? "/at " + std::to_string(file.member->offset) : "";
    return sha256Hex(file.hash + "/" + std::to_string(file.bytesOnDisk()) + "/"
               + std::to_string(file.wholeHash ? 0 : file.modifiedNs) + (encoding.empty() ? "" : "/" + encoding)
               + inside)
               .substr(0, 32)
        + kExpandedEnding;
}

bool isInPackedArchive(const DataFile& file) { return file.member && file.member->archivePacking != Compression::None; }

/// A file of zip that is expanded in memory each time: an archive may have very many of them.
bool isSmallInZip(const DataFile& file)
{
    return file.member && file.member->crc32 && file.member->sizeBytes <= kSmallBytes
        && file.format.compression == Compression::None && file.format.encoding.empty();
}

/// The archive that a file is in, as a file whose plain text is the tar archive.
DataFile archiveOf(const DataFile& file)
{
    DataFile archive = file;
    archive.path = file.member->archive;
    archive.sizeBytes = file.member->archiveBytes;
    archive.format = {};
    archive.format.compression = file.member->archivePacking;
    archive.member.reset();
    return archive;
}

} // namespace

bool fillsCache(const DataFile& file)
{
    if (isSmallInZip(file) && !isDistantPath(file.path))
        return false;
    const bool isHere = file.isStoredPlain() && !isInPackedArchive(file) && !isDistantPath(file.path);
    return (file.format.format != TextFormat::Parquet || file.fetchWhole || file.member)
        && !isHere; // else only the pages of a row group of Parquet are fetched
}

Message whyNotCompared(const DataFile& file, std::uint64_t cacheBytes)
{
    if (!isComparable(file))
        return isWebPath(file.path)
            ? sentence("its server promises no SHA-256 of it; what comes is compared with its ETag or Last-Modified")
            : sentence("the hub promises no SHA-256 of it");
    if (file.format.format != TextFormat::Parquet || file.member)
        return {};
    if (!file.fetchWhole)
        return sentence("only the columns that are needed are read of it");
    const bool hasRoom = cacheBytes == 0 || isWebPath(file.path) || file.sizeBytes <= cacheBytes / kDownloadShare;
    return hasRoom ? Message()
                   : sentence("it is larger than a quarter of the cache (cache_gib), so it is read by parts");
}

CachedAccess::CachedAccess(std::shared_ptr<BlockCache> cache, std::shared_ptr<SourceIdentity> identity)
    : cache_(std::move(cache))
    , identity_(std::move(identity))
    , pieces_(std::make_shared<HubPieces>(cache_))
    , direct_(pieces_, proofs_.get())
{
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::stored(const DataFile& file)
{
    if (isDistantPath(file.path) && !file.member) {
        const bool isWhole = file.fetchWhole && whyNotCompared(file, capBytes()).empty();
        return isWhole ? local(file) : comparesCopies_ ? proven(file) : direct_.stored(file);
    }
    auto source = local(file);
    return source.ok() && file.member ? sliceOf(source.value(), file.member->offset, file.member->packedBytes) : source;
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::local(const DataFile& file)
{
    if (isInPackedArchive(file))
        return expanded(archiveOf(file));
    if (!isDistantPath(file.path))
        return openWatched(file, identity_, [this, &file] { return direct_.onDisk(file); });
    for (const auto& open : whole_)
        if (open.fileName == file.pathOnDisk())
            return open.source;
    if (comparesCopies_ && !isComparable(file)) {
        FURROW_TRY(beginAfresh());
        return read(file, *afresh_->cache);
    }
    return read(file, *cache_);
}

/// The whole of a distant file, in that cache.
Result<std::shared_ptr<const ByteSource>> CachedAccess::read(const DataFile& file, BlockCache& cache)
{
    if (const auto failed = unproven_.find(file.pathOnDisk()); failed != unproven_.end())
        return failed->second;
    auto source = downloadHubFile(file, sharedHubClient(), cache, *proofs_);
    if (comparesCopies_ && !source.ok() && source.error().code == ErrorCode::Corrupt) // what was kept of it is dropped
        source = downloadHubFile(file, sharedHubClient(), cache, *proofs_);
    if (!comparesCopies_ && !source.ok() && source.error().code == ErrorCode::Corrupt)
        return arrivedWrong(file, source.error());
    if (comparesCopies_ && !source.ok() && source.error().code != ErrorCode::Cancelled)
        unproven_.emplace(file.pathOnDisk(), source.error()); // it is not fetched for each of its blocks
    if (source.ok()) {
        arrivedWrong_.erase(file.pathOnDisk());
        if (whole_.size() >= kKeptOpen)
            whole_.pop_front();
        whole_.push_back({ file.pathOnDisk(), source.value() });
        if (&cache == cache_.get() && !beginnings_.empty() && beginnings_.erase(beginningName(file)) > 0)
            pinBeginnings();
    }
    return source;
}

/// Wrong on its way, which is no damage of the file, unless it comes so each time: a try costs all of it.
Error CachedAccess::arrivedWrong(const DataFile& file, const Error& how)
{
    constexpr int kMost = 5; // the feeder waits longer and longer between them
    const int times = ++arrivedWrong_[file.pathOnDisk()];
    if (times < kMost)
        return { ErrorCode::Network, how.message };
    const Error damage { ErrorCode::Corrupt, sentence(kCameWrong, { how.message, Count(times) }) };
    unproven_.emplace(file.pathOnDisk(), damage);
    return damage;
}

const Error* CachedAccess::cameWrong(const DataFile& file) const
{
    const auto found = unproven_.find(file.pathOnDisk());
    return comparesCopies_ || found == unproven_.end() ? nullptr : &found->second;
}

void CachedAccess::keepBeginnings(const DataManifest& manifest)
{
    constexpr std::uint64_t kShare = 16; // of the cache
    std::uint64_t bytes = 0;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files) {
            if (!isDistantPath(file.path) || !fillsCache(file))
                continue;
            const std::string name = beginningName(file);
            std::error_code absent;
            const auto size = std::filesystem::file_size(cache_->path(kDownloads, name), absent);
            if (name.empty() || absent || downloadedHubFile(file, cache_->folder()))
                continue;
            if (bytes + size > capBytes() / kShare)
                return pinBeginnings();
            bytes += size;
            beginnings_.insert(name);
        }
    if (!beginnings_.empty())
        pinBeginnings();
}

/// What is not pinned may be fetched once more, no worse.
void CachedAccess::pinBeginnings()
{
    const std::vector<std::string> names(beginnings_.begin(), beginnings_.end());
    (void)cache_->pin("beginnings", names);
}

/// A file of which only parts are read as a rule: the whole where that proves more.
Result<std::shared_ptr<const ByteSource>> CachedAccess::proven(const DataFile& file)
{
    if (isComparable(file) && (capBytes() == 0 || file.sizeBytes <= capBytes() / kDownloadShare))
        return local(file);
    FURROW_TRY(beginAfresh());
    return afresh_->access.stored(file);
}

Status CachedAccess::beginAfresh()
{
    if (afresh_)
        return {};
    FURROW_TRY_ASSIGN(auto folder, ScratchFolder::make(std::filesystem::temp_directory_path()));
    FURROW_TRY_ASSIGN(auto cache, BlockCache::open(folder.path(), capBytes()));
    DirectAccess access(std::make_shared<HubPieces>(cache), proofs_.get());
    afresh_.emplace(Afresh { std::move(folder), std::move(cache), std::move(access) });
    return {};
}

Result<std::unique_ptr<ByteStream>> CachedAccess::plainFrom(const DataFile& file, std::uint64_t offset)
{
    FURROW_TRY_ASSIGN(auto source,
        !file.isStoredPlain()                          ? expanded(file)
            : isDistantPath(file.path) && !file.member ? local(file)
                                                       : stored(file));
    return streamFrom(std::move(source), offset);
}

Result<std::unique_ptr<ByteStream>> CachedAccess::expanding(const DataFile& file)
{
    FURROW_TRY_ASSIGN(auto packed, local(file));
    DataFile inside = file;
    if (inside.member)
        inside.member->archivePacking = Compression::None; // local() expanded it
    return plainStream(packed, inside);
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::expandedInMemory(const DataFile& file)
{
    FURROW_TRY_ASSIGN(auto stream, expanding(file));
    std::string text(kSmallBytes + 1, '\0'); // one more than it may have: its end is checked where it is read
    FURROW_TRY_ASSIGN(auto size, readFully(*stream, text));
    text.resize(size);
    return memorySource(std::move(text));
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::expanded(const DataFile& file)
{
    if (isSmallInZip(file))
        return expandedInMemory(file);
    const std::string name = expandedName(file);
    for (const auto& open : open_)
        if (open.fileName == name)
            return open.source;
    while (open_.size() >= kKeptOpen)
        open_.pop_front();
    std::vector<std::string> names { name };
    for (const auto& open : open_)
        names.push_back(open.fileName);
    FURROW_TRY(cache_->pin("expanded", names));
    FURROW_TRY_ASSIGN(auto source, rightCopy(file, name));
    if (!source) {
        FURROW_TRY(expand(file, name));
        FURROW_TRY_ASSIGN(source, openChecked(cache_->path(kExpanded, name)));
    }
    open_.push_back({ name, source });
    return source;
}

/// What was expanded before; null: it is not there, or was wrong and is put aside.
Result<std::shared_ptr<const ByteSource>> CachedAccess::rightCopy(const DataFile& file, const std::string& fileName)
{
    const auto copy = cache_->find(kExpanded, fileName);
    if (!copy)
        return std::shared_ptr<const ByteSource>();
    bool isSame = true;
    if (comparesCopies_ && compared_.insert(fileName).second) {
        FURROW_TRY_ASSIGN(auto stream, expanding(file));
        FURROW_TRY_ASSIGN(isSame, holdsAllOf(*copy, *stream));
    }
    auto opened = isSame ? openChecked(*copy) : Error { ErrorCode::Corrupt, {} };
    if (opened.ok() || opened.error().code != ErrorCode::Corrupt)
        return opened;
    logWarning(
        sentence("The copy of %1 in the cache (%2) does not hold what is in the file. It is put aside and made again.",
            { file.path, utf8Text(*copy) }));
    FURROW_TRY(cache_->quarantine(kExpanded, fileName));
    return std::shared_ptr<const ByteSource>();
}

bool CachedAccess::doubt(const DataFile& file)
{
    direct_.forgetOpen();
    std::erase_if(whole_, [&file](const Open& open) { return open.fileName == file.pathOnDisk(); });
    const std::string name = expandedName(file);
    std::erase_if(open_, [&name](const Open& open) { return open.fileName == name; });
    bool wasWrong = false;
    if (const auto copy = file.isStoredPlain() ? std::nullopt : cache_->find(kExpanded, name);
        copy && !verifyChecked(*copy).ok())
        wasWrong = cache_->quarantine(kExpanded, name).ok();
    if (isInPackedArchive(file))
        wasWrong = doubt(archiveOf(file)) || wasWrong;
    return (isDistantPath(file.path) && doubtHubFile(file, *cache_, *proofs_)) || wasWrong;
}

/// Reads the rest, to say how much it is: waiting for room would not help.
/// @param bytes  that came out so far
Error CachedAccess::largerThanCache(
    const DataFile& file, ByteStream& rest, std::vector<char>& piece, std::uint64_t bytes) const
{
    for (;;) {
        const auto filled = readFully(rest, piece);
        if (!filled.ok())
            return filled.error();
        if (filled.value() == 0)
            break;
        bytes += filled.value();
    }
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 is %2 when it is unpacked, which is more than the whole cache may hold (cache_gib: %3). Raise cache_gib, or unpack the file yourself: a plain file is read where it lies.",
            { file.path, Bytes(bytes), Bytes(capBytes()) }) };
}

Status CachedAccess::expand(const DataFile& file, const std::string& fileName)
{
    FURROW_TRY_ASSIGN(auto stream, expanding(file));
    logInfo("expanding " + file.path + " into the cache");
    FURROW_TRY_ASSIGN(auto out, cache_->create());
    std::vector<char> piece(kCheckedPieceBytes);
    std::vector<std::uint64_t> sums;
    for (;;) {
        FURROW_TRY_ASSIGN(auto filled, readFully(*stream, piece));
        if (filled == 0)
            break;
        if (capBytes() > 0 && out.sizeBytes() + filled > capBytes())
            return largerThanCache(file, *stream, piece, out.sizeBytes() + filled);
        sums.push_back(xxh3({ piece.data(), filled }));
        FURROW_TRY(out.append(piece.data(), filled));
    }
    const std::string trailer = checkedTrailer(sums, out.sizeBytes());
    FURROW_TRY(out.append(trailer.data(), trailer.size()));
    return cache_->publish(std::move(out), kExpanded, fileName);
}

} // namespace furrow
