#include "core/libtorch/thread_waits.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace furrow {

std::map<std::string, std::string> threadWaits(const std::vector<EnvironmentVariable>& environment)
{
    // Those of GNU's, Intel's and LLVM's OpenMP that say how long a thread turns before it sleeps.
    constexpr std::array<std::string_view, 4> kSaid { "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME",
        "KMP_LIBRARY" };
    if (std::any_of(environment.begin(), environment.end(),
            [&](const EnvironmentVariable& one) { return std::ranges::find(kSaid, one.name) != kSaid.end(); }))
        return {};
    // GNU's, which libtorch brings, goes by the count where there is one; the others know the policy alone.
    return { { "OMP_WAIT_POLICY", "passive" }, { "GOMP_SPINCOUNT", "5000" } };
}

} // namespace furrow
