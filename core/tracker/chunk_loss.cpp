#include "core/tracker/chunk_loss.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace furrow {

namespace {

/// Windows that were met, as disjoint ranges: first -> one past the last.
class Met {
public:
    /// @return windows of the range that were not met yet
    std::int64_t add(const WindowRange& range)
    {
        auto [first, past] = range;
        std::int64_t fresh = range.size();
        auto at = met_.upper_bound(first);
        if (at != met_.begin() && std::prev(at)->second >= first)
            --at;
        while (at != met_.end() && at->first <= past) {
            fresh -= std::max(0, std::min(range.end, at->second) - std::max(range.begin, at->first));
            first = std::min(first, at->first);
            past = std::max(past, at->second);
            at = met_.erase(at);
        }
        met_.emplace_hint(at, first, past);
        return fresh;
    }

private:
    std::map<std::int32_t, std::int32_t> met_;
};

} // namespace

void ChunkLoss::add(const WindowRanges& done, std::int64_t tokens, double lossSum)
{
    if (tokens > 0 && lossSum != 0)
        trainings_.push_back({ done, tokens, lossSum });
}

std::optional<double> ChunkLoss::mean() const
{
    Met met;
    double sum = 0;
    double tokens = 0;
    for (auto training = trainings_.rbegin(); training != trainings_.rend(); ++training) {
        std::int64_t fresh = 0;
        for (const WindowRange& range : training->done)
            fresh += met.add(range);
        const std::int64_t all = countWindows(training->done);
        const double share = fresh == all ? 1 : static_cast<double>(fresh) / static_cast<double>(all);
        sum += training->lossSum * share;
        tokens += static_cast<double>(training->tokens) * share;
    }
    return tokens > 0 ? std::optional(sum / tokens) : std::nullopt;
}

} // namespace furrow
