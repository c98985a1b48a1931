#include "core/run/supervise/back_off.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLongLifeNs = 10 * kSecondNs;
constexpr std::int64_t kLongestWait = 30; // seconds
constexpr int kMostDoublings = 5; // beyond the longest wait

} // namespace

void BackOff::onStart(std::int64_t nowNs)
{
    startedNs_ = nowNs;
    startAtNs_ = 0;
}

void BackOff::onEnd(std::int64_t nowNs, bool endedByUs)
{
    if (endedByUs) {
        startAtNs_ = nowNs;
        return;
    }
    if (nowNs - startedNs_ >= kLongLifeNs)
        failures_ = 0;
    const auto wait
        = failures_ == 0 ? 0 : std::min(std::int64_t(1) << std::min(failures_ - 1, kMostDoublings), kLongestWait);
    startAtNs_ = nowNs + wait * kSecondNs;
    ++failures_;
}

} // namespace furrow
