#include "core/data/hub/hub_progress.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

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

ToldProgress::ToldProgress(std::string file, std::uint64_t here, std::uint64_t sizeBytes)
    : progress_ { false, std::move(file), {}, here, sizeBytes, 0 }
    , before_(here)
{
}

ToldProgress::ToldProgress(std::string file, std::uint64_t sizeBytes, std::string place)
    : progress_ { true, std::move(file), std::move(place), 0, sizeBytes, 0 }
    , before_(0)
{
}

void ToldProgress::arrived(std::uint64_t here)
{
    const std::chrono::duration<double> passed = Clock::now() - began_;
    if (!hubProgress() || passed.count() < told_ + 1)
        return;
    told_ = passed.count();
    progress_.arrivedBytes = here;
    progress_.bytesPerSecond = static_cast<double>(here - before_) / told_;
    hubProgress()(progress_);
}

} // namespace furrow
