#include "core/tracker/sqlite/tracker_locks.h"

#include "core/base/byte_locks.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace furrow {

namespace {

// Bytes of the -shm file, from the description of SQLite's WAL index (walformat.html): the right to write, and the
// marks of readers. Mark 0 is of those who need nothing of the WAL.
constexpr std::uint64_t kWriteByte = 120;
constexpr std::uint64_t kMoveByte = 121;
constexpr std::uint64_t kTakeUpByte = 122;
constexpr std::uint64_t kFirstMark = 124;
constexpr std::uint64_t kLastMark = 127;
constexpr std::uint64_t kOpenByte = 128; // each connection holds it for as long as it is open

// Bytes of the file itself, from the description of its locks (lockingv3.html). Who has the right to write there,
// without a WAL or for itself alone, keeps everybody out.
constexpr std::uint64_t kPendingByte = 0x40000000;
constexpr std::uint64_t kLastSharedByte = kPendingByte + 511;

constexpr std::uintmax_t kLargeWal = std::uintmax_t(32) << 20; // in health some MiB; database.cpp cuts it back to 16

bool covers(const ByteLock& lock, std::uint64_t first, std::uint64_t last)
{
    return lock.first <= last && lock.last >= first;
}

bool coversAllMarks(const ByteLock& lock) { return lock.first <= kFirstMark && lock.last >= kLastMark; }

bool hasFileAlone(const ByteLock& lock) { return lock.exclusive && covers(lock, kPendingByte, kLastSharedByte); }

LockHolder holderOf(const ByteLock& lock)
{
    return { std::max<std::int64_t>(lock.pid, 0), lock.program, lock.stopped, ownerOfAnother(lock.pid) };
}

std::filesystem::path beside(const std::filesystem::path& tracker, const char* ending)
{
    auto path = tracker;
    path += ending;
    return path;
}

} // namespace

TrackerLocks trackerLocks(const std::filesystem::path& tracker)
{
    TrackerLocks found;
    for (const ByteLock& lock :
        byteLocks(beside(tracker, "-shm"))) { // each connection has one there, for as long as it is open
        found.told = true;
        const LockHolder holder = holderOf(lock);
        const bool bars = lock.exclusive && coversAllMarks(lock); // who writes reads first
        const bool writes = bars || covers(lock, kWriteByte, kWriteByte);
        if (writes)
            found.writer = holder;
        if (covers(lock, kMoveByte, kTakeUpByte))
            found.keeper = holder;
        if (writes)
            continue;
        if (!lock.exclusive && covers(lock, kFirstMark, kLastMark))
            found.readers.push_back(holder);
    }
    for (const ByteLock& lock : byteLocks(tracker))
        if (hasFileAlone(lock))
            found.keeper = holderOf(lock);
    return found;
}

std::optional<LockHolder> shutBy(const std::filesystem::path& tracker)
{
    for (const ByteLock& lock : byteLocks(beside(tracker, "-shm")))
        if (lock.exclusive && (coversAllMarks(lock) || covers(lock, kOpenByte, kOpenByte)))
            return holderOf(lock);
    for (const ByteLock& lock : byteLocks(tracker))
        if (hasFileAlone(lock))
            return holderOf(lock);
    return std::nullopt;
}

Patience patienceAloud(std::filesystem::path tracker, std::function<bool()> goOn)
{
    return [tracker = std::move(tracker), goOn = std::move(goOn), isSaid = false](
               std::chrono::milliseconds waited) mutable {
        if (waited >= std::chrono::seconds(1) && !isSaid)
            if (const auto writer = trackerLocks(tracker).writer) {
                isSaid = true;
                logWarning("The tracker is locked by " + inWords(*writer) + "; it is waited for until it lets go.");
            }
        return goOn();
    };
}

TrackerUsers::TrackerUsers(const std::filesystem::path& tracker)
    : probe_(beside(tracker, "-shm"))
{
}

bool TrackerUsers::mayBeOthers() const { return probe_.mayBeLocked(kOpenByte); }

Message sayWhatKeepsTheWal(const std::filesystem::path& tracker)
{
    std::error_code absent;
    const auto size = std::filesystem::file_size(beside(tracker, "-wal"), absent);
    if (absent || size < kLargeWal)
        return {};
    auto readers = trackerLocks(tracker).readers;
    std::stable_sort(
        readers.begin(), readers.end(), [](const LockHolder& a, const LockHolder& b) { return a.stopped > b.stopped; });
    return sentence(
        "The file %1 has grown to %2, because %3 reads an older state of the tracker and does not end. Let it go on or end it; nothing is lost, and the file shrinks then.",
        { utf8Text(beside(tracker, "-wal").filename()), Bytes(size),
            readers.empty() ? sentence("somebody") : inWords(readers.front()) });
}

} // namespace furrow
