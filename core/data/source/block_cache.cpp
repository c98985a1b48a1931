// How the cache stays below its cap with several processes in it: every write happens under one lock file and is first
// added to a number beside it. The number is never too small; who finds no room by it looks at the sizes on disk. A
// process is known by its member file, which it keeps locked while it lives; its temporaries and pins carry the name of
// that file, so what a dead process left can be told from what is in use.

#include "core/data/source/block_cache.h"

#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/source/block_cache_state.h"
#include "core/data/source/cache_lock.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace furrow {

namespace fs = std::filesystem;

namespace {

constexpr std::array kFolders { kBlocks, kExpanded, kDownloads, kDuplicates, kTemporary, kMembers };
// When there is no room, one part in so many of the cap is freed at once: to look through the folder for each piece
// takes longer than to prepare a block, when there are many.
constexpr std::uint64_t kSlack = 32;

} // namespace

Status refuseLinksInCache(const fs::path& folder)
{
    for (const char* sub : kFolders) {
        if (isLink(folder / sub)) // what is evicted there could be anybody's
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 is a link, and Furrow deletes nothing behind a link inside its cache. Remove the link.",
                    { utf8Text(folder / sub) }) };
        FURROW_TRY(refuseNoFolder(folder / sub));
    }
    return {};
}

struct CacheFile::State {
    std::shared_ptr<BlockCache> cache;
    fs::path path;
    std::unique_ptr<OutputFile> file;
    std::uint64_t sizeBytes = 0;
    bool published = false;

    ~State()
    {
        file.reset();
        std::error_code ignored;
        if (!published && mayChangeCache().ok())
            fs::remove(path, ignored);
    }
};

CacheFile::CacheFile(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
CacheFile::CacheFile(CacheFile&&) noexcept = default;
CacheFile::~CacheFile() = default;

const fs::path& CacheFile::path() const { return state_->path; }

std::uint64_t CacheFile::sizeBytes() const { return state_->sizeBytes; }

Status CacheFile::append(const void* data, std::size_t sizeBytes)
{
    auto& cache = *state_->cache;
    {
        BlockCache::Evicted evicted(*cache.state_->files);
        const std::lock_guard guard(cache.state_->mutex);
        FURROW_TRY_ASSIGN(const auto lock, cache.state_->lock());
        FURROW_TRY(cache.reserve(sizeBytes, evicted));
    }
    state_->sizeBytes += sizeBytes; // written without the lock: whoever is stopped here stops nobody else
    return state_->file->append(data, sizeBytes);
}

BlockCache::BlockCache(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}

BlockCache::~BlockCache()
{
    const bool isOurs = mayChangeCache().ok(); // else somebody's copy of this cache lies there, with our marks in it
    std::error_code ignored;
    if (isOurs)
        fs::remove(state_->memberFile(state_->member, ".pins"), ignored);
    state_->memberLock.reset();
    if (isOurs)
        fs::remove(state_->memberFile(state_->member, ".lock"), ignored);
}

Result<std::shared_ptr<BlockCache>> BlockCache::open(const fs::path& folder, std::uint64_t capBytes, FileSystem& files)
{
    auto state = std::make_unique<State>();
    state->files = &files;
    state->folder = folder;
    state->capBytes = capBytes;
    state->member = randomHex(kMemberDigits);
    FURROW_TRY(mayChangeCache());
    FURROW_TRY(refuseRootInFolderOf(folder));
    FURROW_TRY(refuseLinksInCache(folder));
    for (const char* sub : kFolders)
        FURROW_TRY(files.createFolders(folder / sub));
    FURROW_TRY_ASSIGN(const auto lock, state->lock());
    FURROW_TRY_ASSIGN(auto own, FileLock::tryLock(state->memberFile(state->member, ".lock")));
    state->memberLock.emplace(std::move(own));
    state->sweep();
    FURROW_TRY(state->noteUse(state->used()));
    return std::shared_ptr<BlockCache>(new BlockCache(std::move(state)));
}

const fs::path& BlockCache::folder() const { return state_->folder; }

std::uint64_t BlockCache::capBytes() const { return state_->capBytes; }

fs::path BlockCache::path(const std::string& sub, const std::string& fileName) const
{
    return state_->folder / sub / pathFromUtf8(fileName);
}

std::optional<fs::path> BlockCache::find(const std::string& sub, const std::string& fileName)
{
    const auto file = path(sub, fileName);
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
        if (isTaken(file)) // a folder or a pipe would be in the way of what is made now
            (void)quarantine(sub, fileName);
        return std::nullopt;
    }
    fs::last_write_time(file, fs::file_time_type::clock::now(), error);
    return file;
}

/// @param used  what cannot be evicted; @param bytes  that are to be written
Error BlockCache::fullCache(const State& cache, std::uint64_t used, std::uint64_t bytes)
{
    const std::vector<Argument> values { utf8Text(cache.folder), Bytes(cache.capBytes), Bytes(used), Bytes(bytes) };
    return { ErrorCode::Io,
        cache.hasOtherMembers()
            ? sentence(
                  "The cache %1 is full: its cap is %2, %3 of it are needed by running runs and %4 more are to be written. Raise cache_gib.",
                  values)
            : sentence(
                  "The cache %1 is full: its cap is %2, %3 of it are needed by what this program reads, no other one uses it, and %4 more are to be written. Raise cache_gib.",
                  values) };
}

/// Makes room for so many bytes that are written now. Call with mutex and lock held.
Status BlockCache::reserve(std::uint64_t bytes, Evicted& evicted)
{
    const std::uint64_t cap = state_->limit();
    const std::uint64_t target = cap - std::min(cap, bytes);
    std::uint64_t used = state_->notedUse().value_or(UINT64_MAX);
    if (used > target) {
        state_->sweep();
        used = state_->used();
    }
    if (used > target) {
        used -= state_->evictTo(target - std::min(target, cap / kSlack), used, evicted);
        if (used + bytes > cap)
            return fullCache(*state_, used, bytes);
    }
    return state_->noteUse(used + bytes);
}

Result<CacheFile> BlockCache::create()
{
    FURROW_TRY(mayChangeCache());
    auto state = std::make_unique<CacheFile::State>();
    state->cache = shared_from_this();
    state->path = state_->nextTemporary();
    FURROW_TRY_ASSIGN(state->file, state_->files->create(state->path));
    return CacheFile(std::move(state));
}

Status BlockCache::publish(CacheFile file, const std::string& sub, const std::string& fileName)
{
    auto& temporary = *file.state_;
    FURROW_TRY(temporary.file->sync());
    FURROW_TRY(temporary.file->close());
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    const auto target = path(sub, fileName);
    std::error_code error;
    if (fs::exists(target, error))
        return {};
    FURROW_TRY(state_->files->createFolders(target.parent_path())); // a person may have removed it
    FURROW_TRY(state_->files->rename(temporary.path, target));
    temporary.published = true;
    return state_->files->syncFolder(target.parent_path());
}

Status BlockCache::append(
    const std::string& sub, const std::string& fileName, std::uint64_t offset, const void* data, std::size_t sizeBytes)
{
    Evicted evicted(*state_->files);
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    FURROW_TRY(reserve(sizeBytes, evicted));
    const auto file = path(sub, fileName);
    std::error_code none;
    const auto there = fs::file_size(file, none); // after making room, which may have taken it
    if ((none ? 0 : there) != offset)
        return Error { ErrorCode::Busy,
            sentence("Another process wrote to %1 in the cache, or removed it.", { fileName }) };
    FURROW_TRY_ASSIGN(auto out, RegularFile::open(file, RegularFile::At::End));
    return out.write({ static_cast<const char*>(data), sizeBytes }) == sizeBytes
        ? Status {}
        : Status(Error { ErrorCode::Io,
              sentence("%1 cannot be written to. Check whether its disk is full or the file belongs to somebody else.",
                  { utf8Text(file) }) });
}

Status BlockCache::complete(const std::string& sub, const std::string& fileName, const std::string& wholeName)
{
    const std::lock_guard guard(state_->mutex);
    auto lock = state_->lock();
    return lock.ok() ? state_->files->replace(path(sub, fileName), path(sub, wholeName)) : Status(lock.error());
}

void BlockCache::remove(const std::string& sub, const std::string& fileName)
{
    std::error_code gone;
    if (mayChangeCache().ok())
        fs::remove(path(sub, fileName), gone);
}

void BlockCache::cut(const std::string& sub, const std::string& fileName, std::uint64_t bytes)
{
    std::error_code gone;
    if (mayChangeCache().ok())
        fs::resize_file(path(sub, fileName), bytes, gone);
}

Result<FileLock> BlockCache::claim(const std::string& name)
{
    FURROW_TRY(mayChangeCache());
    return FileLock::tryLock(claimFile(name)); // of a process that died it is swept as members are
}

fs::path BlockCache::claimFile(const std::string& name) const { return state_->memberFile(name, ".lock"); }

Status BlockCache::quarantine(const std::string& sub, const std::string& fileName)
{
    FURROW_TRY(mayChangeCache());
    return state_->files->rename(path(sub, fileName), path(sub, fileName + kBad + randomHex(kBadDigits)));
}

Status BlockCache::pin(const std::string& owner, std::span<const std::string> fileNames)
{
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    state_->pins[owner] = std::set<std::string>(fileNames.begin(), fileNames.end());
    return writeFileWhole(*state_->files, state_->memberFile(state_->member, ".pins"),
        nlohmann::json(state_->ownPins()).dump()); // pins end with the process
}

Result<std::vector<CacheEntry>> BlockCache::list() const
{
    const std::lock_guard guard(state_->mutex);
    return state_->entries();
}

std::vector<CacheEntry> BlockCache::listOf(const fs::path& folder)
{
    State looking;
    looking.folder = folder;
    return looking.entries();
}

/// Under the lock: files come and go while they are looked at one by one, and what was evicted meanwhile would count
/// beside what came in its place.
Result<std::uint64_t> BlockCache::usedBytes() const
{
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    return state_->used();
}

bool BlockCache::hasRoomFor(std::uint64_t bytes) const
{
    const std::lock_guard guard(state_->mutex);
    const std::uint64_t cap = state_->limit();
    const auto used = state_->notedUse();
    return (used && *used + bytes <= cap) || state_->kept() + bytes <= cap;
}

Result<BlockCache::Outdated> BlockCache::removeOutdated()
{
    Evicted evicted(*state_->files);
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    Outdated removed;
    for (const CacheEntry& entry : state_->entries()) {
        const bool isOutdated = entry.folder == kExpanded && entry.fileName.ends_with(kOutdatedEnding) && !entry.pinned;
        if (!isOutdated || !state_->evict(entry, evicted))
            continue;
        ++removed.files;
        removed.bytes += entry.sizeBytes;
    }
    return removed;
}

Result<std::uint64_t> BlockCache::trim(std::uint64_t bytes)
{
    Evicted evicted(*state_->files);
    const std::lock_guard guard(state_->mutex);
    FURROW_TRY_ASSIGN(const auto lock, state_->lock());
    state_->sweep();
    return state_->evictTo(bytes, state_->used(), evicted);
}

} // namespace furrow
