#pragma once

#include "core/base/sentence.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace furrow {

/// A distant file, or a column of a row group of it, on its way; or a whole copy of one that is compared with the
/// SHA-256 that it must have.
struct HubProgress {
    bool isCheck = false;
    std::string file; ///< the path of the file in the repository, or its address
    std::string place {}; ///< "3 of 12" where several files are compared
    std::uint64_t arrivedBytes = 0;
    std::uint64_t sizeBytes = 0; ///< 0: nobody knows
    double bytesPerSecond = 0; ///< of the last seconds
    double stillSeconds = 0; ///< so long not one byte has come; 0: some have in the last seconds

    bool isStill() const { return stillSeconds > 0; }
};
inline constexpr SentenceText kDownloading("downloading %1: %2 at %3/s"); ///< of a size that nobody knows
inline constexpr SentenceText kDownloadingOf("downloading %1: %2 of %3 at %4/s, %5 left");
/// "downloading a.txt: 12 MiB of 60 MiB at 0.4 MiB/s, 2 min left", "checking file 3 of 12, a.txt: 12 MiB of 60 MiB"
Message toString(const HubProgress& progress);

/// Told about once a second while a file comes, or should come and does not; on any thread, of one file never on two at
/// once. Of this process; set it before the first download.
void setHubProgress(std::function<void(const HubProgress&)> onProgress);
const std::function<void(const HubProgress&)>& hubProgress();

/// How fast something comes: of the last seconds alone, for what came before them says nothing of now. Not thread-safe.
class RecentSpeed {
public:
    static constexpr double kSeconds = 5;
    /// @param here  bytes that are there at second `at`, which never goes back
    void add(double at, std::uint64_t here);
    double bytesPerSecond(double now) const;

private:
    struct Seen {
        double at = 0;
        std::uint64_t here = 0;
    };
    std::deque<Seen> seen_; ///< of the last seconds, and one of before them
};

/// Tells how far a download is, once a second while it comes; a thread of its own says so when nothing comes.
/// Thread-safe.
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
    double now() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
    void watch(const std::stop_token& stop);
    void tell(double now);

    const Clock::time_point began_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable_any ended_;
    // guarded by mutex_; seconds after the beginning
    HubProgress progress_;
    RecentSpeed speed_;
    double cameAt_ = 0; ///< the newest byte
    double toldAt_ = 0;
    std::jthread watcher_; ///< ends before the rest goes
};

} // namespace furrow
