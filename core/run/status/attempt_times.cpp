#include "core/run/status/attempt_times.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kAfterEndNs = 5'000'000'000; // its last processes may write so long
constexpr std::int64_t kClocksNs = 60'000'000'000; // that the clock of another computer may be ahead

} // namespace

void AttemptTimes::know(const std::vector<AttemptRow>& attempts, std::int64_t nowNs)
{
    now_ = nowNs + kClocksNs;
    spans_.clear();
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const AttemptRow& attempt = attempts[i];
        const std::int64_t next = i + 1 < attempts.size() ? attempts[i + 1].startedWallNs : now_;
        const std::int64_t end = attempt.endedWallNs ? *attempt.endedWallNs + kAfterEndNs : next;
        if (end >= attempt.startedWallNs) // else the clock was moved between the two, and nothing can be told
            spans_[attempt.id.value] = { attempt.startedWallNs, end };
    }
}

std::int64_t AttemptTimes::at(AttemptId attempt, std::int64_t wallNs, Writer writer)
{
    if (wallNs == 0)
        return 0;
    const auto found = spans_.find(attempt.value);
    if (found == spans_.end()) {
        if (wallNs <= now_ || last_ == 0)
            last_ = wallNs;
        return last_;
    }
    const auto [begin, end] = found->second;
    if (wallNs < begin || wallNs > (writer == Writer::Itself ? end : std::max(end, now_)))
        return std::clamp(last_, begin, end);
    if (wallNs <= end)
        last_ = wallNs;
    return wallNs;
}

} // namespace furrow
