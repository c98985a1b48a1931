#include "core/run/supervise/trouble_watch.h"

#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/status/disk_room_left.h"
#include "core/run/status/feeder_words.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/training_notes.h"

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kDataPatienceNs = 10 * kSecondNs; // a hub that answers the second time is no news
constexpr std::int64_t kStallNs = 300 * kSecondNs;
constexpr std::uint64_t kLeastFree = 5ULL << 30;
constexpr std::uint64_t kRoomAgain = kLeastFree + (kLeastFree >> 3); // a disk at the edge is not told of each minute
constexpr std::int64_t kDiskEveryNs = 10 * kSecondNs;

std::string stallKey(IncarnationId worker) { return "stall " + std::to_string(worker.value); }

} // namespace

Status TroubleWatch::see(const Message& waitsFor, bool isToTrain)
{
    seeData(waitsFor);
    seeDisk();
    seeCheckpoints();
    return seeWorkers(isToTrain && waitsFor.empty());
}

void TroubleWatch::seeData(const Message& doing)
{
    const DataOutage wait = dataOutage(doing).value_or(DataOutage { doing });
    if (doing.empty())
        waitsSinceNs_ = 0;
    else if (waitsSinceNs_ == 0) // what the feeder says may have lost its parts
        waitsSinceNs_ = wait.sinceWallNs != 0 ? wait.sinceWallNs : clock_.wallNs();
    if (doing.empty() || clock_.wallNs() - waitsSinceNs_ >= kDataPatienceNs)
        keep("data", !doing.empty(), sentence(kRunWaitsForData, { WallTime(waitsSinceNs_), wait.why }),
            sentence(kRunHasDataAgain));
}

Status TroubleWatch::seeWorkers(bool isToTrain)
{
    FURROW_TRY_ASSIGN(const auto live, ledger_.live());
    std::set<std::string> living;
    for (const auto& one : live) {
        const std::int64_t quietNs = clock_.monotonicNs() - one.renewedNs;
        const std::string worker = std::to_string(one.worker);
        living.insert(stallKey(one.incarnation));
        if (one.worker >= 0)
            keep(stallKey(one.incarnation),
                quietNs >= kStallNs && (isToTrain || told_.contains(stallKey(one.incarnation))),
                sentence(kNoProgressSince, { worker, WallTime(clock_.wallNs() - quietNs) }),
                sentence(kProgressAgain, { worker }));
    }
    std::erase_if(told_, [&living](const std::string& key) { // of one that ended the history tells
        return key.starts_with("stall ") && !living.contains(key);
    });
    return {};
}

void TroubleWatch::seeDisk()
{
    if (clock_.monotonicNs() < nextDiskLookNs_)
        return;
    nextDiskLookNs_ = clock_.monotonicNs() + kDiskEveryNs;
    if (const auto free = diskRoomLeft(paths_))
        keep("disk", *free < (told_.contains("disk") ? kRoomAgain : kLeastFree),
            sentence(kDiskNearlyFull, { Bytes(*free) }), sentence(kDiskHasRoomAgain));
}

void TroubleWatch::seeCheckpoints()
{
    keep("checkpoints", !isThere(paths_.checkpointsFolder()),
        sentence(kCheckpointsAway, { utf8Text(paths_.checkpointsFolder()) }), sentence(kCheckpointsAreBack));
}

void TroubleWatch::keep(const std::string& key, bool isSo, const Message& began, const Message& over)
{
    if (isSo == told_.contains(key))
        return;
    if (const auto noted = noteRunEvent(paths_.tracker(), isSo ? began : over, clock_, ledger_.patience()); !noted.ok())
        return logWarning(noted.error().message);
    if (isSo)
        told_.insert(key);
    else
        told_.erase(key);
}

} // namespace furrow
