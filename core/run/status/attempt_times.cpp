#include "core/run/status/attempt_times.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kAfterEndNs = 5'000'000'000; // its last processes may write so long
constexpr std::int64_t kClocksNs = 60'000'000'000; // that the clock of another computer may be ahead

} // namespace

void AttemptTimes::know(const std::vector<AttemptRow>& attempts, std::int64_t nowNs)
{
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const AttemptRow& attempt = attempts[i];
        const std::int64_t next = i + 1 < attempts.size() ? attempts[i + 1].startedWallNs : nowNs + kClocksNs;
        const std::int64_t end = attempt.endedWallNs ? *attempt.endedWallNs + kAfterEndNs : next;
        if (end < attempt.startedWallNs) { // the clock was moved between the two: nothing can be told
            spans_.erase(attempt.id.value);
            continue;
        }
        Span& span = spans_[attempt.id.value];
        span.begin = attempt.startedWallNs;
        span.end = end;
        span.now = std::max(end, nowNs + kClocksNs);
        span.last = std::clamp(span.last, span.begin, span.end);
    }
}

std::int64_t AttemptTimes::at(AttemptId attempt, std::int64_t wallNs, Writer writer)
{
    const auto found = spans_.find(attempt.value);
    if (wallNs == 0 || found == spans_.end())
        return wallNs;
    Span& span = found->second;
    if (wallNs < span.begin || wallNs > (writer == Writer::Itself ? span.end : span.now))
        return span.last;
    if (wallNs <= span.end)
        span.last = wallNs;
    return wallNs;
}

} // namespace furrow
