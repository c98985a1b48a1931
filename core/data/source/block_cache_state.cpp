#include "core/data/source/block_cache_state.h"

#include "core/base/format.h"
#include "core/base/is_there.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/source/cache_lock.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace furrow {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUsed = "used"; // a file with a number
constexpr std::size_t kUsedDigits = 20; // of the largest

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

/// Those that the cache gave their names.
template <typename OnFile> void eachOwn(const fs::path& cache, const char* sub, const OnFile& onFile)
{
    eachFile(cache / sub, [&](const fs::directory_entry& entry) {
        if (isCacheFile(sub, utf8Text(entry.path().filename())))
            onFile(entry);
    });
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

BlockCache::Evicted::~Evicted()
{
    for (const auto& path : paths_)
        if (mayChangeCache().ok())
            (void)files_.removeAll(path); // what stays is swept when this process is gone
}

fs::path BlockCache::State::nextTemporary(const char* ending)
{
    return folder / kTemporary / (member + "-" + std::to_string(temporaries++) + ending);
}

fs::path BlockCache::State::memberFile(const std::string& name, const char* ending) const
{
    return folder / kMembers / (name + ending);
}

Result<FileLock> BlockCache::State::lock()
{
    FURROW_TRY(mayChangeCache());
    FURROW_TRY_ASSIGN(auto taken, waitForCache(folder, waitedInVain));
    FURROW_TRY(mayChangeCache()); // it may have been waited for
    return taken;
}

std::uint64_t BlockCache::State::used() const
{
    std::uint64_t sum = 0;
    for (const char* sub : { kBlocks, kExpanded, kDownloads, kDuplicates })
        eachOwn(folder, sub, [&](const fs::directory_entry& entry) { sum += sizeOf(entry); });
    return sum + growing();
}

std::uint64_t BlockCache::State::growing() const
{
    std::uint64_t sum = 0;
    eachFile(folder / kTemporary, [&](const fs::directory_entry& entry) {
        const auto name = utf8Text(entry.path().filename());
        sum += memberOf(name).empty() || name.ends_with(kGoing) ? 0 : sizeOf(entry);
    });
    return sum;
}

std::optional<std::uint64_t> BlockCache::State::notedUse() const
{
    RegularFileStream in(folder / kUsed);
    std::uint64_t bytes = 0;
    return in >> bytes && in.peek() == '\n' ? std::optional(bytes) : std::nullopt;
}

Status BlockCache::State::noteUse(std::uint64_t bytes) const
{
    const auto file = folder / kUsed;
    FURROW_TRY_ASSIGN(auto out, RegularFile::open(file, RegularFile::At::Beginning));
    const std::string digits = std::to_string(bytes);
    const std::string line = std::string(kUsedDigits - digits.size(), ' ') + digits + '\n';
    return out.write(line) == line.size()
        ? Status {}
        : Status(Error { ErrorCode::Io,
              sentence(
                  "The cache cannot write its size to %1. Check whether its disk is full or the file belongs to somebody else.",
                  { utf8Text(file) }) });
}

std::uint64_t BlockCache::State::kept() const
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

void BlockCache::State::tellStays(const fs::path& file) const
{
    if (told.insert(file).second)
        logWarning("cache: " + utf8Text(file) + " is named like a file of the cache and is none; it stays.");
}

void BlockCache::State::sweep() const
{
    std::map<std::string, FileLock> dead; // held until their files are gone, so that nobody takes one meanwhile
    eachFile(folder / kMembers, [&](const fs::directory_entry& entry) {
        const auto name = utf8Text(entry.path().stem());
        if (name == member || !isMemberMark(name) || entry.path().extension() != ".lock" || isLocked(entry.path()))
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

std::set<std::string> BlockCache::State::ownPins() const
{
    std::set<std::string> all;
    for (const auto& [owner, names] : pins)
        all.insert(names.begin(), names.end());
    return all;
}

std::set<std::string> BlockCache::State::allPins() const
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

bool BlockCache::State::hasOtherMembers() const
{
    bool found = false;
    eachFile(folder / kMembers, [&](const fs::directory_entry& entry) {
        const auto name = utf8Text(entry.path().stem());
        found = found || (name != member && entry.path().extension() == ".lock" && isLocked(entry.path()));
    });
    return found;
}

std::vector<CacheEntry> BlockCache::State::entries() const
{
    const auto pinned = allPins();
    std::vector<CacheEntry> all;
    for (const char* sub : { kBlocks, kExpanded, kDownloads, kDuplicates })
        eachOwn(folder, sub, [&](const fs::directory_entry& file) {
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

bool BlockCache::State::evict(const CacheEntry& entry, Evicted& evicted)
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

std::uint64_t BlockCache::State::evictTo(std::uint64_t target, std::uint64_t usedNow, Evicted& evicted)
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

} // namespace furrow
