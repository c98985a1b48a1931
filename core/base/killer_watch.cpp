#include "core/base/killer_watch.h"

#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kBetweenLooksNs = 10'000'000'000; // a large process takes seconds to go after it was killed

}

KillerWatch::KillerWatch(std::function<std::int64_t()> kills)
    : kills_(std::move(kills))
    , before_(kills_())
    , last_(before_)
{
}

void KillerWatch::look(std::int64_t nowNs)
{
    if (lastLookNs_ != 0 && nowNs - lastLookNs_ < kBetweenLooksNs)
        return;
    lastLookNs_ = nowNs;
    before_ = std::exchange(last_, kills_());
}

} // namespace furrow
