#include "core/run/supervise/tracker_care.h"

#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kSavePatienceNs = 10 * kSecondNs; // for processes that were killed
// A supervisor that stood still finds a file that grew meanwhile, and nobody is to blame for that.
constexpr int kSecondsBeforeSaid = 5;
constexpr auto kSaveTurn = std::chrono::milliseconds(50);
// A snapshot is for those who look from elsewhere: it may cost a five-hundredth of the time.
constexpr std::int64_t kSnapshotShare = 500;
constexpr std::int64_t kSnapshotLeastNs = 5 * kSecondNs;
constexpr std::int64_t kSnapshotMostNs = 300 * kSecondNs;

} // namespace

void TrackerCare::everySecond()
{
    shrinkWal();
    const auto begin = clock_.monotonicNs();
    if (begin < nextSnapshotNs_)
        return;
    if (auto status = publishSnapshot(); !status.ok())
        logWarning(status.error().message);
    const auto end = clock_.monotonicNs();
    nextSnapshotNs_ = end + std::clamp((end - begin) * kSnapshotShare, kSnapshotLeastNs, kSnapshotMostNs);
}

void TrackerCare::atTheEnd(bool isReplaced)
{
    if (isReplaced)
        saveWal();
    else
        (void)ledger_.emptyWal();
    (void)publishSnapshot();
}

void TrackerCare::shrinkWal()
{
    auto moved = secondsGrown_ > 0 ? ledger_.emptyWal()
                                   : ledger_.checkpointWal(); // a file that has grown is cut as soon as it can be
    if (!moved.ok())
        logWarning(moved.error().message);
    const auto grown = sayWhatKeepsTheWal(paths_.tracker());
    secondsGrown_ = grown.empty() ? 0 : secondsGrown_ + 1;
    if (secondsGrown_ == kSecondsBeforeSaid)
        logWarning(grown);
}

Status TrackerCare::publishSnapshot()
{
    FURROW_TRY(guard_.check());
    return ledger_.publishSnapshot(paths_.trackerSnapshot());
}

/// The WAL that this process has open may have lost its name, or stand beside a tracker of somebody else's: what is in
/// it goes into the file that it belongs to. What has its name then is not ours. It is kept, but not where SQLite would
/// take it for the WAL of our tracker.
void TrackerCare::saveWal()
{
    const auto until = clock_.monotonicNs() + kSavePatienceNs;
    auto saved = ledger_.emptyWal();
    for (; (!saved.ok() || !saved.value()) && clock_.monotonicNs() < until;
        saved = ledger_.emptyWal()) // killed processes are about to let go
        std::this_thread::sleep_for(kSaveTurn);
    if (!saved.ok() || !saved.value()) {
        logError(saved.ok() ? sentence("%1 could not be brought up to date: another process reads it.",
                                  { utf8Text(paths_.tracker()) })
                            : saved.error().message);
        return;
    }
    const auto wal = databaseFiles(paths_.tracker())[1];
    std::error_code failed;
    const auto size = std::filesystem::file_size(wal, failed);
    if (failed || size == 0 || !guard_.hasOwnTracker())
        return;
    const auto aside = wal.parent_path() / (wal.filename().string() + "-" + randomHex(6));
    if (auto moved = realFileSystem().rename(wal, aside); !moved.ok())
        logError(moved.error().message);
    else
        logWarning(sentence("%1 is not of this tracker. Nothing of it was deleted, it was moved to %2.",
            { utf8Text(wal), utf8Text(aside) }));
}

} // namespace furrow
