// How the cache stays below its cap with several processes in it: every write happens under one lock file and is first
// added to a number beside it. The number is never too small; who finds no room by it looks at the sizes on disk. A
// process is known by its member file, which it keeps locked while it lives; its temporaries and pins carry the name of
// that file, so what a dead process left can be told from what is in use.

#include "core/data/source/block_cache.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/lock_holder.h"
#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/stop_asked.h"
#include "core/data/source/cache_magic.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace furrow {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTemporary = "temporary";
constexpr const char* kMembers = "members";
constexpr std::array kFolders { kBlocks, kExpanded, kDownloads, kDuplicates, kTemporary, kMembers };
constexpr const char* kBad = ".bad-"; ///< part of the name of a quarantined file
constexpr auto kQuickWait = std::chrono::milliseconds(100); ///< for a lock that was waited for in vain
constexpr auto kBetweenTells = std::chrono::seconds(1);
constexpr const char* kUsed = "used"; ///< a file with a number
constexpr std::size_t kUsedDigits = 20; ///< of the largest
// When there is no room, one part in so many of the cap is freed at once: to look through the folder for each piece
// takes longer than to prepare a block, when there are many.
constexpr std::uint64_t kSlack = 32;

constexpr std::string_view kOutdatedEnding = ".text"; ///< in "expanded": of an older Furrow, without checksums

constexpr int kMemberDigits = 16;
constexpr std::size_t kKeyDigits = 32; ///< of names of files; those of whole downloads have twice as many
constexpr std::size_t kBadDigits = 6;

constexpr bool isHex(std::string_view text)
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether the cache gave a file this name. What else lies there belongs to somebody, as in a folder that was another
/// program's cache before: it is not counted, not listed and never removed.
bool isOurs(std::string_view sub, std::string_view name)
{
    if (const auto bad = name.rfind(kBad); bad != std::string_view::npos) {
        if (const auto digits = name.substr(bad + std::string_view(kBad).size());
            digits.size() != kBadDigits || !isHex(digits))
            return false;
        name = name.substr(0, bad);
    }
    const auto key = name.substr(0, name.find('.'));
    if ((key.size() != kKeyDigits && key.size() != 2 * kKeyDigits) || !isHex(key))
        return false;
    const auto ending = name.substr(key.size());
    if (sub == kExpanded)
        return ending == kExpandedEnding || ending == kOutdatedEnding;
    if (sub != kDownloads)
        return ending == (sub == kBlocks ? ".block" : ".duplicates");
    return ending.ends_with(".download") || ending.ends_with(".part") || ending.ends_with(".part.sums")
        || ending.ends_with(".range") || ending.ends_with(".download.sha256");
}

constexpr const char* kGoing = ".evicted"; ///< ending of a temporary that is only there to be removed

/// "<member>-<n>" -> "<member>", also of what it evicts; "" for a name that no member gives.
std::string memberOf(std::string temporaryName)
{
    if (temporaryName.ends_with(kGoing))
        temporaryName.resize(temporaryName.size() - std::string_view(kGoing).size());
    const auto digits = temporaryName.find('-');
    const bool isMembers = digits == kMemberDigits && isHex(std::string_view(temporaryName).substr(0, digits))
        && digits + 1 < temporaryName.size()
        && temporaryName.find_first_not_of("0123456789", digits + 1) == std::string::npos;
    return isMembers ? temporaryName.substr(0, digits) : std::string();
}

/// Whether a member, or a claim of one (named after a download), has this name.
bool isMark(std::string_view stem)
{
    const auto key = stem.substr(0, stem.find('.'));
    return isHex(key)
        && (stem.size() == kMemberDigits
            || (key.size() < stem.size() && (key.size() == kKeyDigits || key.size() == 2 * kKeyDigits)));
}

CacheUse& cacheUse()
{
    static CacheUse use;
    return use;
}

/// Whether what lies in a cache may still be written and removed.
Status mayChange() { return cacheUse().mayChange ? cacheUse().mayChange() : Status {}; }

Message holderInWords(const fs::path& lock)
{
    const auto holder = fileLockHolder(lock);
    return holder ? inWords(*holder) : sentence("another process");
}

void tellWait(const fs::path& lock, bool isFirst)
{
    const auto why
        = sentence("waits for the lock of the cache, %1, held by %2", { utf8Text(lock), holderInWords(lock) });
    if (cacheUse().tellWait)
        cacheUse().tellWait(why);
    else if (isFirst)
        logWarning(why);
}

std::int64_t wallNs(fs::file_time_type time)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::file_clock::to_sys(time).time_since_epoch())
        .count();
}

template <typename OnFile> void eachFile(const fs::path& folder, const OnFile& onFile)
{
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code gone; // another process may remove it meanwhile
        if (!it->is_symlink(gone) && it->is_regular_file(gone)) // of a link nobody here knows whose it is
            onFile(*it);
    }
}

/// A file with a name of the cache's that was not made by it: its content says so.
bool isBlock(const fs::path& path)
{
    std::string start(kBlockMagic.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    return start == kBlockMagic;
}

/// The pins of a member: a list of names.
std::optional<std::vector<std::string>> pinsIn(const fs::path& path)
{
    const auto text = readFile(path, 64 << 20);
    const auto list = text.ok() ? nlohmann::json::parse(text.value(), nullptr, false) : nlohmann::json();
    if (!list.is_array()
        || !std::all_of(list.begin(), list.end(), [](const nlohmann::json& item) { return item.is_string(); }))
        return std::nullopt;
    return list.get<std::vector<std::string>>();
}

std::uint64_t sizeOf(const fs::directory_entry& entry)
{
    std::error_code gone;
    const auto size = entry.file_size(gone);
    return gone ? 0 : size;
}

} // namespace

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
    ~Evicted()
    {
        for (const auto& path : paths_)
            if (mayChange().ok())
                (void)files_.removeAll(path); // what stays is swept when this process is gone
    }
    void add(fs::path path) { paths_.push_back(std::move(path)); }

private:
    FileSystem& files_;
    std::vector<fs::path> paths_;
};

struct BlockCache::State {
    // set when opened, then constant
    fs::path folder;
    std::uint64_t capBytes = 0;
    FileSystem* files = nullptr; ///< of everything that must survive a power loss
    std::string member;
    std::optional<FileLock> memberLock;
    std::atomic<int> temporaries { 0 };
    std::atomic<bool> waitedInVain { false };
    // guarded by mutex
    std::mutex mutex;
    std::map<std::string, std::set<std::string>> pins;
    mutable std::set<fs::path> told; ///< of tellStays()

    std::uint64_t limit() const { return capBytes == 0 ? UINT64_MAX : capBytes; }
    fs::path nextTemporary(const char* ending = "")
    {
        return folder / kTemporary / (member + "-" + std::to_string(temporaries++) + ending);
    }
    fs::path memberFile(const std::string& name, const char* ending) const
    {
        return folder / kMembers / (name + ending);
    }

    /// To be held for moments only: nothing is read from a source or a network with it.
    Result<FileLock> lock()
    {
        FURROW_TRY(mayChange());
        FURROW_TRY_ASSIGN(auto taken, takeLock());
        FURROW_TRY(mayChange()); // it may have been waited for
        return taken;
    }

    Result<FileLock> takeLock()
    {
        const auto file = folder / "cache.lock";
        const auto start = std::chrono::steady_clock::now();
        const auto end = start
            + (waitedInVain ? std::min<std::chrono::milliseconds>(kQuickWait, cacheUse().patience)
                            : cacheUse().patience);
        auto nextTell = start + kBetweenTells;
        for (;;) {
            auto taken = FileLock::tryLockForAll(file); // a cache may be shared: the first to come made the file
            if (taken.ok())
                waitedInVain = false;
            if (taken.ok() || taken.error().code != ErrorCode::Busy)
                return taken;
            if (stopAsked())
                return Error { ErrorCode::Cancelled,
                    sentence("Waiting for the lock of the cache, %1, was cancelled.", { utf8Text(file) }) };
            const auto now = std::chrono::steady_clock::now();
            if (now > end) {
                waitedInVain = true;
                return Error { ErrorCode::Busy,
                    sentence(
                        "The cache cannot be used: its lock, %1, is held by %2. Let it go on or end it, then try again.",
                        { utf8Text(file), holderInWords(file) }) };
            }
            if (now >= nextTell) {
                tellWait(file, nextTell == start + kBetweenTells);
                nextTell = now + kBetweenTells;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::uint64_t used() const
    {
        std::uint64_t sum = 0;
        for (const char* sub : { kBlocks, kExpanded, kDownloads, kDuplicates })
            eachOwn(sub, [&](const fs::directory_entry& entry) { sum += sizeOf(entry); });
        return sum + growing();
    }

    /// Of files that have no name yet.
    std::uint64_t growing() const
    {
        std::uint64_t sum = 0;
        eachFile(folder / kTemporary, [&](const fs::directory_entry& entry) {
            const auto name = utf8Text(entry.path().filename());
            sum += memberOf(name).empty() || name.ends_with(kGoing) ? 0 : sizeOf(entry);
        });
        return sum;
    }

    template <typename OnFile> void eachOwn(const char* sub, const OnFile& onFile) const
    {
        eachFile(folder / sub, [&](const fs::directory_entry& entry) {
            if (isOurs(sub, utf8Text(entry.path().filename())))
                onFile(entry);
        });
    }

    /// What used() is at most, or nothing when that is not known.
    std::optional<std::uint64_t> notedUse() const
    {
        RegularFileStream in(folder / kUsed);
        std::uint64_t bytes = 0;
        return in >> bytes && in.peek() == '\n' ? std::optional(bytes) : std::nullopt;
    }

    /// Lock held. Written in place and not synced: after a power loss open() makes it right.
    Status noteUse(std::uint64_t bytes) const
    {
        const auto file = folder / kUsed;
        FURROW_TRY_ASSIGN(auto out, RegularFile::open(file, RegularFile::At::Beginning));
        const std::string digits = std::to_string(bytes);
        const std::string line = std::string(kUsedDigits - digits.size(), ' ') + digits + '\n';
        return out.write(line) == line.size()
            ? Status {}
            : Status(Error { ErrorCode::Io,
                  sentence(
                      "The cache cannot write its size to %1. Look whether its disk is full or the file belongs to somebody else.",
                      { utf8Text(file) }) });
    }

    /// Bytes that no eviction would free. Mutex held.
    std::uint64_t kept() const
    {
        std::uint64_t sum = growing();
        for (const auto& name : allPins())
            for (const char* sub : { kBlocks, kExpanded, kDownloads, kDuplicates }) {
                std::error_code none;
                const auto size = fs::file_size(folder / sub / pathFromUtf8(name), none);
                sum += none ? 0 : size;
            }
        return sum;
    }

    /// Of a file that somebody gave a name of the cache's; once.
    void tellStays(const fs::path& file) const
    {
        if (told.insert(file).second)
            logWarning("cache: " + utf8Text(file) + " is named like a file of the cache and is none; it stays.");
    }

    /// Removes what dead members left. Call with the lock held.
    void sweep() const
    {
        std::map<std::string, FileLock> dead; // held until their files are gone, so that nobody takes one meanwhile
        eachFile(folder / kMembers, [&](const fs::directory_entry& entry) {
            const auto name = utf8Text(entry.path().stem());
            if (name == member || !isMark(name) || entry.path().extension() != ".lock" || isLocked(entry.path()))
                return;
            if (sizeOf(entry) > 0) // a lock has no content
                return tellStays(entry.path());
            if (auto lock = FileLock::tryLock(entry.path()); lock.ok())
                dead.emplace(name, std::move(lock).value());
        });
        std::error_code ignored;
        eachFile(folder / kTemporary, [&](const fs::directory_entry& entry) {
            const auto owner = memberOf(utf8Text(entry.path().filename()));
            if (!owner.empty() && owner != member
                && (dead.contains(owner) || !fs::exists(memberFile(owner, ".lock"), ignored)))
                fs::remove(entry.path(), ignored);
        });
        for (const auto& [name, lock] : dead) {
            const auto pinned = memberFile(name, ".pins");
            if (pinsIn(pinned))
                fs::remove(pinned, ignored);
            else if (isThere(pinned))
                tellStays(pinned);
            fs::remove(memberFile(name, ".lock"), ignored);
        }
    }

    std::set<std::string> ownPins() const
    {
        std::set<std::string> all;
        for (const auto& [owner, names] : pins)
            all.insert(names.begin(), names.end());
        return all;
    }

    /// Pins of all living members. Call with mutex held.
    std::set<std::string> allPins() const
    {
        std::set<std::string> all = ownPins();
        eachFile(folder / kMembers, [&](const fs::directory_entry& entry) {
            const auto name = utf8Text(entry.path().stem());
            if (entry.path().extension() != ".pins" || name == member || !isLocked(memberFile(name, ".lock")))
                return;
            if (const auto names = pinsIn(entry.path()))
                all.insert(names->begin(), names->end());
        });
        return all;
    }

    bool hasOtherMembers() const
    {
        bool found = false;
        eachFile(folder / kMembers, [&](const fs::directory_entry& entry) {
            const auto name = utf8Text(entry.path().stem());
            found = found || (name != member && entry.path().extension() == ".lock" && isLocked(entry.path()));
        });
        return found;
    }

    std::vector<CacheEntry> entries() const
    {
        const auto pinned = allPins();
        std::vector<CacheEntry> all;
        for (const char* sub : { kBlocks, kExpanded, kDownloads, kDuplicates })
            eachOwn(sub, [&](const fs::directory_entry& file) {
                CacheEntry entry;
                std::error_code gone;
                entry.folder = sub;
                entry.fileName = utf8Text(file.path().filename());
                entry.sizeBytes = sizeOf(file);
                entry.lastUsedWallNs = wallNs(file.last_write_time(gone));
                entry.pinned = pinned.contains(entry.fileName);
                entry.quarantined = entry.fileName.find(kBad) != std::string::npos;
                all.push_back(std::move(entry));
            });
        std::sort(all.begin(), all.end(), [](const CacheEntry& a, const CacheEntry& b) {
            return std::tuple(!a.quarantined, a.lastUsedWallNs, a.fileName)
                < std::tuple(!b.quarantined, b.lastUsedWallNs, b.fileName);
        });
        return all;
    }

    /// Takes its name from a file, which is removed when the lock is free again. Lock and mutex held.
    bool evict(const CacheEntry& entry, Evicted& evicted)
    {
        const auto going = nextTemporary(kGoing);
        std::error_code error;
        fs::rename(folder / entry.folder / pathFromUtf8(entry.fileName), going, error);
        if (error)
            return false;
        evicted.add(going);
        logInfo("cache: evicted " + entry.fileName + " (" + formatBytes(entry.sizeBytes) + ")");
        return true;
    }

    /// Evicts until at most `target` bytes are used or nothing more may go. Returns the bytes freed. Lock and mutex
    /// held.
    std::uint64_t evictTo(std::uint64_t target, std::uint64_t usedNow, Evicted& evicted)
    {
        std::uint64_t freed = 0;
        for (const auto& entry : entries()) {
            if (usedNow - freed <= target)
                break;
            if (entry.pinned)
                continue;
            const auto file = folder / entry.folder / pathFromUtf8(entry.fileName);
            if (entry.folder == kBlocks && !entry.quarantined && !isBlock(file)) {
                tellStays(file);
                continue;
            }
            freed += evict(entry, evicted) ? entry.sizeBytes : 0;
        }
        return freed;
    }
};

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

void setCacheUse(CacheUse use) { cacheUse() = std::move(use); }

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
        if (!published && mayChange().ok())
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
    const bool isOurs = mayChange().ok(); // else somebody's copy of this cache lies there, with our marks in it
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
    FURROW_TRY(mayChange());
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
    FURROW_TRY(mayChange());
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
              sentence("%1 cannot be written to. Look whether its disk is full or the file belongs to somebody else.",
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
    if (mayChange().ok())
        fs::remove(path(sub, fileName), gone);
}

void BlockCache::cut(const std::string& sub, const std::string& fileName, std::uint64_t bytes)
{
    std::error_code gone;
    if (mayChange().ok())
        fs::resize_file(path(sub, fileName), bytes, gone);
}

Result<FileLock> BlockCache::claim(const std::string& name)
{
    FURROW_TRY(mayChange());
    return FileLock::tryLock(claimFile(name)); // of a process that died it is swept as members are
}

fs::path BlockCache::claimFile(const std::string& name) const { return state_->memberFile(name, ".lock"); }

Status BlockCache::quarantine(const std::string& sub, const std::string& fileName)
{
    FURROW_TRY(mayChange());
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
