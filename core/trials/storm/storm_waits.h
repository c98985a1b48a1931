#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace furrow {

/// A worker that stood still between two steps of one process, and how long.
struct StormWait {
    std::int64_t beganNs = 0; ///< monotonic, as the worker sees it
    std::int64_t endedNs = 0; ///< on the same clock
    double seconds = 0; ///< training and merges are no waiting
    double mergeSeconds = 0; ///< at a merge or a checkpoint, beside that
};

/// A span of time, monotonic [ns].
struct TimeSpan {
    std::int64_t beganNs = 0;
    std::int64_t endedNs = 0;
};
/// How long at least one of the spans lasted between two moments [s].
double secondsWithin(std::vector<TimeSpan> spans, std::int64_t fromNs, std::int64_t toNs);

/// The monotonic clock that the processes of a run see when a storm makes it jump, against that of the storm. One
/// thread.
class JumpedClock {
public:
    /// At `ownNs` of the storm's clock theirs goes forward.
    void jump(std::int64_t ownNs, std::int64_t forwardNs);
    /// How far theirs is ahead now.
    std::int64_t aheadNs() const { return jumps_.empty() ? 0 : jumps_.back().aheadNs; }
    /// What the storm's clock says when theirs says `theirsNs`; a moment inside a jump is the moment of the jump.
    std::int64_t ownNs(std::int64_t theirsNs) const;
    /// A wait as the storm's clock saw it: nobody waited for what the clock jumped, which comes off the merges first.
    StormWait own(StormWait theirs) const;

private:
    struct Jump {
        std::int64_t ownNs = 0;
        std::int64_t aheadNs = 0; ///< theirs, from then on
    };
    std::vector<Jump> jumps_;
};

/// Reads from the telemetry of a run how long its workers waited: whoever is killed has no next step in its process, so
/// what is found are the waits of the others. One thread.
class StormWaits {
public:
    explicit StormWaits(std::filesystem::path telemetryFolder);
    /// The waits that ended since the last call, those of more than `leastSeconds`.
    std::vector<StormWait> take(double leastSeconds);

private:
    struct File {
        std::uintmax_t offset = 0; ///< read up to here
        std::int64_t lastStepNs = 0; ///< of the process that writes now; 0: none yet
    };
    void read(const std::filesystem::path& path, File& file, double leastSeconds, std::vector<StormWait>& found);

    std::filesystem::path folder_;
    std::map<std::filesystem::path, File> files_;
};

} // namespace furrow
