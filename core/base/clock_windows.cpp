#include "core/base/clock.h"
#include "core/base/fault_injection.h"
#include "core/base/windows_api.h"

namespace furrow {
namespace {

using UnbiasedTime = void(WINAPI*)(ULONGLONG*);

/// The precise variant (Windows 10) has sub-microsecond steps, the plain one those of the timer tick.
UnbiasedTime preciseUnbiasedTime()
{
    const HMODULE library = ::GetModuleHandleW(L"kernelbase.dll");
    void* found
        = library ? reinterpret_cast<void*>(::GetProcAddress(library, "QueryUnbiasedInterruptTimePrecise")) : nullptr;
    return reinterpret_cast<UnbiasedTime>(found);
}

class SystemClock final : public Clock {
public:
    std::int64_t monotonicNs() const override
    {
        ULONGLONG ticks = 0;
        if (precise_)
            precise_(&ticks);
        else
            ::QueryUnbiasedInterruptTime(&ticks);
        return static_cast<std::int64_t>(ticks) * 100 + clockFault().monotonicNs;
    }

    std::int64_t wallNs() const override
    {
        constexpr std::int64_t kTicksFrom1601To1970 = 116'444'736'000'000'000;
        FILETIME time {};
        ::GetSystemTimePreciseAsFileTime(&time);
        return (ticksOf(time) - kTicksFrom1601To1970) * 100 + clockFault().wallNs;
    }

private:
    const UnbiasedTime precise_ = preciseUnbiasedTime();
};

} // namespace

const Clock& systemClock()
{
    static const SystemClock clock;
    return clock;
}

} // namespace furrow
