#include "core/run/standstill.h"

#include "core/base/process.h"

#include <utility>

namespace furrow {

namespace {
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLookEveryNs = 200 * kMs;
constexpr std::int64_t kPatienceNs = 1000 * kMs; // a debugger stops a process for moments
} // namespace

Standstill::Standstill(SupervisorLedger& ledger, bool trainTogether, const Clock& clock)
    : ledger_(ledger)
    , trainTogether_(trainTogether)
    , clock_(clock)
{
}

Result<std::vector<SupervisorLedger::Expired>> Standstill::overdue()
{
    std::vector<SupervisorLedger::Expired> found;
    const auto now = clock_.monotonicNs();
    if (now < nextLookNs_)
        return found;
    nextLookNs_ = now + kLookEveryNs;
    auto awaited = trainTogether_ ? ledger_.live() : ledger_.awaitedAtMerge();
    if (!awaited.ok())
        return awaited.error();
    const auto before = std::exchange(since_, {});
    for (const auto& one : awaited.value()) {
        if (!standsStill(one.process))
            continue;
        const auto known = before.find(one.incarnation.value);
        const auto since = since_[one.incarnation.value] = known == before.end() ? now : known->second;
        if (now - since >= kPatienceNs)
            found.push_back(one);
    }
    return found;
}

} // namespace furrow
