#include "core/base/clock.h"

#include "core/base/fault_injection.h"

#include <ctime>

namespace furrow {
namespace {

std::int64_t readNs(clockid_t id)
{
    timespec time {};
    clock_gettime(id, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

class SystemClock final : public Clock {
public:
    std::int64_t monotonicNs() const override { return readNs(CLOCK_MONOTONIC) + clockFault().monotonicNs; }
    std::int64_t wallNs() const override { return readNs(CLOCK_REALTIME) + clockFault().wallNs; }
};

} // namespace

const Clock& systemClock()
{
    static const SystemClock clock;
    return clock;
}

} // namespace furrow
