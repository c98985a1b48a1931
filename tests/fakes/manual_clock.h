#pragma once

#include "core/base/clock.h"

#include <atomic>
#include <chrono>

namespace furrow {

/// A clock that moves only when a test says so. Thread-safe.
class ManualClock final : public Clock {
public:
    explicit ManualClock(std::chrono::nanoseconds monotonic = std::chrono::hours(1),
        std::chrono::nanoseconds wall = std::chrono::seconds(1'773'427'330)) // 2026-03-13T18:42:10Z
        : monotonicNs_(monotonic.count())
        , wallNs_(wall.count())
    {
    }

    std::int64_t monotonicNs() const override { return monotonicNs_; }
    std::int64_t wallNs() const override { return wallNs_; }

    /// Time passes. @param by  not negative: the monotonic clock never goes back
    void advance(std::chrono::nanoseconds by)
    {
        monotonicNs_ += by.count();
        wallNs_ += by.count();
    }
    /// The machine sleeps: only the wall clock goes on.
    void suspend(std::chrono::nanoseconds by) { wallNs_ += by.count(); }
    /// Someone sets the wall clock, forwards or back.
    void jumpWall(std::chrono::nanoseconds by) { wallNs_ += by.count(); }

private:
    std::atomic<std::int64_t> monotonicNs_;
    std::atomic<std::int64_t> wallNs_;
};

} // namespace furrow
