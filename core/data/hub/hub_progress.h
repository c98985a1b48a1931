#pragma once

#include "core/base/sentence.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace furrow {

/// A distant file, or a column of a row group of it, on its way; or a whole copy of one that is compared with the
/// SHA-256 that it must have.
struct HubProgress {
    bool isCheck = false;
    std::string file; ///< the path of the file in the repository, or its address
    std::string place {}; ///< "3 of 12" where several files are compared
    std::uint64_t arrivedBytes = 0;
    std::uint64_t sizeBytes = 0;
    double bytesPerSecond = 0;
};
inline constexpr SentenceText kDownloading("downloading %1: %2 at %3/s"); ///< of a size that nobody knows
inline constexpr SentenceText kDownloadingOf("downloading %1: %2 of %3 at %4/s, %5 left");
/// "downloading a.txt: 12 MiB of 60 MiB at 0.4 MiB/s, 2 min left", "checking file 3 of 12, a.txt: 12 MiB of 60 MiB"
Message toString(const HubProgress& progress);

/// Told about once a second while a file comes, on the thread that fetches it and never on two at once. Of this
/// process; set it before the first download.
void setHubProgress(std::function<void(const HubProgress&)> onProgress);
const std::function<void(const HubProgress&)>& hubProgress();

/// Tells how far a download is, once a second while it comes.
class ToldProgress {
public:
    /// @param here  bytes that are there already
    ToldProgress(std::string file, std::uint64_t here, std::uint64_t sizeBytes);
    /// Instead: a whole copy is compared.
    /// @param place  "3 of 12", or "" for one file
    ToldProgress(std::string file, std::uint64_t sizeBytes, std::string place);
    /// @param here  bytes that are there now
    void arrived(std::uint64_t here);

private:
    using Clock = std::chrono::steady_clock;
    HubProgress progress_;
    std::uint64_t before_;
    Clock::time_point began_ = Clock::now();
    double told_ = 0; ///< seconds after the beginning
};

} // namespace furrow
