#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace furrow {

/// A whole file of the hub on its way into the cache.
struct HubProgress {
    std::string file; ///< its path in the repository
    std::uint64_t arrivedBytes = 0;
    std::uint64_t sizeBytes = 0;
    double bytesPerSecond = 0;
};
/// "downloading a.txt: 12 MiB of 60 MiB at 0.4 MiB/s, 2 min left"
std::string toString(const HubProgress& progress);

/// Told about once a second while a file comes, on the thread that fetches it and never on two at once. Of this process; set it before the first download.
void setHubProgress(std::function<void(const HubProgress&)> onProgress);
const std::function<void(const HubProgress&)>& hubProgress();

} // namespace furrow
