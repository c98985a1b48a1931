#pragma once

#include "core/base/process.h"

#include <cstdint>

namespace furrow {

/// Who holds chunks lives, as far as that is known: of a process that cannot be seen from here its lease tells.
/// @param leaseUntilNs, nowNs  monotonic
inline bool mayLive(const ProcessIdentity& process, std::int64_t leaseUntilNs, std::int64_t nowNs)
{
    return isAlive(process) || (leaseUntilNs > nowNs && isHidden(process));
}

} // namespace furrow
