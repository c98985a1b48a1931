#include "core/data/hub/hub_progress.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

std::function<void(const HubProgress&)>& shared()
{
    static std::function<void(const HubProgress&)> onProgress;
    return onProgress;
}

} // namespace

Message toString(const HubProgress& p)
{
    if (p.isCheck)
        return p.place.empty()
            ? sentence("checking %1: %2 of %3", { p.file, Bytes(p.arrivedBytes), Bytes(p.sizeBytes) })
            : sentence(
                  "checking file %1, %2: %3 of %4", { p.place, p.file, Bytes(p.arrivedBytes), Bytes(p.sizeBytes) });
    if (p.isStill()) {
        const Count still(std::llround(p.stillSeconds));
        return p.sizeBytes == 0
            ? sentence("downloading %1: %2, no byte for %3 s", { p.file, Bytes(p.arrivedBytes), still })
            : sentence("downloading %1: %2 of %3, no byte for %4 s",
                  { p.file, Bytes(p.arrivedBytes), Bytes(p.sizeBytes), still });
    }
    if (p.sizeBytes == 0)
        return sentence(
            kDownloading, { p.file, Bytes(p.arrivedBytes), Bytes(static_cast<std::uint64_t>(p.bytesPerSecond)) });
    const double left = p.bytesPerSecond > 0 ? static_cast<double>(p.sizeBytes - p.arrivedBytes) / p.bytesPerSecond : 0;
    return sentence(kDownloadingOf,
        { p.file, Bytes(p.arrivedBytes), Bytes(p.sizeBytes), Bytes(static_cast<std::uint64_t>(p.bytesPerSecond)),
            formatDuration(left) });
}

void setHubProgress(std::function<void(const HubProgress&)> onProgress) { shared() = std::move(onProgress); }

const std::function<void(const HubProgress&)>& hubProgress() { return shared(); }

void RecentSpeed::add(double at, std::uint64_t here)
{
    constexpr double kApart = 0.25;
    if (seen_.size() > 1 && at - seen_[seen_.size() - 2].at < kApart)
        seen_.pop_back();
    seen_.push_back({ at, here });
    while (seen_.size() > 1 && seen_[1].at <= at - kSeconds)
        seen_.pop_front();
}

double RecentSpeed::bytesPerSecond(double now) const
{
    if (seen_.empty())
        return 0;
    const auto later
        = std::find_if(seen_.begin(), seen_.end(), [now](const Seen& seen) { return seen.at > now - kSeconds; });
    const Seen& from = later == seen_.begin() ? seen_.front() : *std::prev(later);
    return now > from.at ? static_cast<double>(seen_.back().here - from.here) / (now - from.at) : 0;
}

ToldProgress::ToldProgress(std::string file, std::uint64_t here, std::uint64_t sizeBytes)
    : progress_ { false, std::move(file), {}, here, sizeBytes, 0, 0 }
{
    speed_.add(0, here);
    if (hubProgress())
        watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

ToldProgress::ToldProgress(std::string file, std::uint64_t sizeBytes, std::string place)
    : progress_ { true, std::move(file), std::move(place), 0, sizeBytes, 0, 0 }
{
    speed_.add(0, 0);
}

void ToldProgress::arrived(std::uint64_t here)
{
    const std::lock_guard guard(mutex_);
    const bool isOverdue = progress_.isStill(); // that was said, and is over
    cameAt_ = now();
    progress_.arrivedBytes = here;
    speed_.add(cameAt_, here);
    if (hubProgress() && (isOverdue || cameAt_ >= toldAt_ + 1))
        tell(cameAt_);
}

/// What comes tells of itself; this tells when it does not.
void ToldProgress::watch(const std::stop_token& stop)
{
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        ended_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
        if (const double at = now(); !stop.stop_requested() && at >= toldAt_ + 1)
            tell(at);
    }
}

/// With the mutex. Nothing in the first seconds, while nothing has come yet: most servers answer within them.
void ToldProgress::tell(double now)
{
    const double still = now - cameAt_;
    progress_.bytesPerSecond = speed_.bytesPerSecond(now);
    progress_.stillSeconds = still >= RecentSpeed::kSeconds ? still : 0;
    if (progress_.bytesPerSecond == 0 && !progress_.isStill() && !progress_.isCheck)
        return;
    toldAt_ = now;
    hubProgress()(progress_);
}

} // namespace furrow
