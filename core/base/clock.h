#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace furrow {

/// Time as leases and telemetry need it. An interface because tests move it by hand. Thread-safe.
class Clock {
public:
    virtual ~Clock() = default;
    /// Nanoseconds of a clock that never jumps and stands still while the machine sleeps
    /// (CLOCK_MONOTONIC; unbiased interrupt time on Windows). Comparable between processes of one boot.
    virtual std::int64_t monotonicNs() const = 0;
    /// Nanoseconds since 1970, for people only: it may jump.
    virtual std::int64_t wallNs() const = 0;
};

const Clock& systemClock();

/// Random id of this boot of the machine; monotonic times of two boots must never be compared.
const std::string& bootId();

/// "2026-03-13T18:42:10Z" of a wall time in nanoseconds since 1970.
std::string isoTime(std::int64_t wallNs);

} // namespace furrow
