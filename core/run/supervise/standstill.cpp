#include "core/run/supervise/standstill.h"

#include "core/base/process.h"

#include <algorithm>
#include <utility>

namespace furrow {

namespace {
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLookEveryNs = 100 * kMs;
constexpr std::int64_t kPatienceNs = 700 * kMs; // a debugger stops a process for moments
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
    FURROW_TRY_ASSIGN(auto live, ledger_.live());
    const auto before = std::exchange(since_, {});
    for (const auto& one : live) {
        if (!standsStill(one.process))
            continue;
        const auto known = before.find(one.incarnation.value);
        const auto since = since_[one.incarnation.value] = known == before.end() ? now : known->second;
        if (now - since >= kPatienceNs)
            found.push_back(one);
    }
    return found.empty() || trainTogether_ ? found : ofThoseAwaited(std::move(found));
}

bool Standstill::isOverdue(const ProcessIdentity& feeder)
{
    const auto now = clock_.monotonicNs();
    if (!standsStill(feeder))
        feederSinceNs_ = 0;
    else if (feederSinceNs_ == 0)
        feederSinceNs_ = now;
    return feederSinceNs_ != 0 && now - feederSinceNs_ >= kPatienceNs;
}

Result<std::vector<SupervisorLedger::Expired>> Standstill::ofThoseAwaited(std::vector<SupervisorLedger::Expired> still)
{
    FURROW_TRY_ASSIGN(auto awaited, ledger_.awaitedAtMerge());
    std::erase_if(still, [&](const auto& one) {
        return std::none_of(
            awaited.begin(), awaited.end(), [&](const auto& other) { return other.incarnation == one.incarnation; });
    });
    return still;
}

} // namespace furrow
