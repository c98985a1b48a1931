#pragma once

#include <cstdint>
#include <functional>

namespace furrow {

/// Tells whether the kernel's out-of-memory killer was at work shortly before a process ended: its counters moved in
/// the last ten to twenty seconds. An older move was for another process. Not thread-safe. Not for other folders.
class KillerWatch {
public:
    /// @param kills  what the kernel counted so far
    explicit KillerWatch(std::function<std::int64_t()> kills);

    /// While the process lives, as often as one likes.
    void look(std::int64_t nowNs);
    /// When it has ended.
    bool wasAtWork() const { return kills_() > before_; }

private:
    std::function<std::int64_t()> kills_;
    std::int64_t before_; ///< at the look before the last one
    std::int64_t last_;
    std::int64_t lastLookNs_ = 0; ///< 0: none yet
};

} // namespace furrow
