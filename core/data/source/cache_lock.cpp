#include "core/data/source/cache_lock.h"

#include "core/base/lock_holder.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/stop_asked.h"
#include "core/data/source/block_cache.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

constexpr auto kQuickWait = std::chrono::milliseconds(100); // for a lock that was waited for in vain
constexpr auto kBetweenTells = std::chrono::seconds(1);

CacheUse& cacheUse()
{
    static CacheUse use;
    return use;
}

Message holderInWords(const std::filesystem::path& lock)
{
    const auto holder = fileLockHolder(lock);
    return holder ? inWords(*holder) : sentence("another process");
}

void tellWait(const std::filesystem::path& lock, bool isFirst)
{
    const auto why
        = sentence("waits for the lock of the cache, %1, held by %2", { utf8Text(lock), holderInWords(lock) });
    if (cacheUse().tellWait)
        cacheUse().tellWait(why);
    else if (isFirst)
        logWarning(why);
}

} // namespace

void setCacheUse(CacheUse use) { cacheUse() = std::move(use); }

Status mayChangeCache() { return cacheUse().mayChange ? cacheUse().mayChange() : Status {}; }

Result<FileLock> waitForCache(const std::filesystem::path& folder, std::atomic<bool>& waitedInVain)
{
    const auto file = folder / "cache.lock";
    const auto start = std::chrono::steady_clock::now();
    const auto end = start
        + (waitedInVain ? std::min<std::chrono::milliseconds>(kQuickWait, cacheUse().patience) : cacheUse().patience);
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

} // namespace furrow
