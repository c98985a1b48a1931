#include "core/run/supervise/data_wait_record.h"

#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/run/status/feeder_words.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/training_notes.h"

namespace furrow {

namespace {

constexpr std::int64_t kPatienceNs = 10'000'000'000;

} // namespace

void DataWaitRecord::see(const Message& doing)
{
    if (doing.empty()) {
        if (isTold_ && !note(sentence(kRunHasDataAgain)))
            return;
        sinceWallNs_ = 0;
        isTold_ = false;
        return;
    }
    const DataOutage wait = dataOutage(doing).value_or(DataOutage { doing });
    if (sinceWallNs_ == 0) // what the feeder says may have lost its parts
        sinceWallNs_ = wait.sinceWallNs != 0 ? wait.sinceWallNs : clock_.wallNs();
    if (!isTold_ && clock_.wallNs() - sinceWallNs_ >= kPatienceNs)
        isTold_ = note(sentence(kRunWaitsForData, { WallTime(sinceWallNs_), wait.why }));
}

bool DataWaitRecord::note(const Message& what) const
{
    const auto noted = noteRunEvent(tracker_, what, clock_);
    if (!noted.ok())
        logWarning(noted.error().message);
    return noted.ok();
}

} // namespace furrow
