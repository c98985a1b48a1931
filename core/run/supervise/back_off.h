#pragma once

#include <cstdint>

namespace furrow {

/// When a process that ended is started again. At once the first time: whoever was killed from outside is missed by the
/// others. Then after 1, 2, 4 ... 30 s as long as it ends soon after each start; who lived for ten seconds begins anew.
/// One thread.
class BackOff {
public:
    void onStart(std::int64_t nowNs);
    /// @param endedByUs  it was ended although it did not fail: it starts again at once, however short it lived
    void onEnd(std::int64_t nowNs, bool endedByUs = false);
    bool isPlanned() const { return startAtNs_ != 0; }
    bool isDue(std::int64_t nowNs) const { return isPlanned() && nowNs >= startAtNs_; }
    std::int64_t startAtNs() const { return startAtNs_; } ///< 0: no start is planned
    std::int64_t startedNs() const { return startedNs_; } ///< the newest start; 0: none yet
    void cancel() { startAtNs_ = 0; }

private:
    std::int64_t startAtNs_ = 0;
    std::int64_t startedNs_ = 0;
    int failures_ = 0; ///< one soon after the other
};

} // namespace furrow
