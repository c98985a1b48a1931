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

std::string toString(const HubProgress& p)
{
    const double left = p.bytesPerSecond > 0 ? static_cast<double>(p.sizeBytes - p.arrivedBytes) / p.bytesPerSecond : 0;
    return sentence("downloading %1: %2 of %3 at %4/s, %5 left",
        { p.file, formatBytes(p.arrivedBytes), formatBytes(p.sizeBytes), formatBytes(static_cast<std::uint64_t>(p.bytesPerSecond)), formatDuration(left) });
}

void setHubProgress(std::function<void(const HubProgress&)> onProgress)
{
    shared() = std::move(onProgress);
}

const std::function<void(const HubProgress&)>& hubProgress()
{
    return shared();
}

} // namespace furrow
