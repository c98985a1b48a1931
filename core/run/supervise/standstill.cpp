#include "core/run/supervise/standstill.h"

#include "core/base/process.h"

#include <algorithm>
#include <utility>

namespace furrow {

namespace {
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLookEveryNs = 100 * kMs;
constexpr std::int64_t kPatienceNs = 700 * kMs; // a debugger stops a process for moments

enum class ToCome { Claimable, Later, Held, NoEpoch, Over };

/// Whether the open epochs have chunks that a worker can claim now, later, or only from those that hold them. Over: no
/// epoch is open any more.
ToCome whatIsToCome(const std::vector<EpochRow>& epochs)
{
    auto found = epochs.empty() ? ToCome::NoEpoch : ToCome::Over;
    for (const EpochRow& epoch : epochs) {
        if (epoch.closedWallNs)
            continue;
        if (epoch.chunks[ChunkState::Free] > 0)
            return ToCome::Claimable;
        if (epoch.chunks[ChunkState::Pending] > 0 || !epoch.blockCount)
            found = ToCome::Later;
        else if (found == ToCome::Over)
            found = ToCome::Held;
    }
    return found;
}

} // namespace

Standstill::Standstill(SupervisorLedger& ledger, LedgerReader& reader, bool trainTogether, const Clock& clock)
    : ledger_(ledger)
    , reader_(reader)
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
    FURROW_TRY_ASSIGN(const auto live, ledger_.live());
    std::size_t still = 0;
    const auto before = std::exchange(since_, {});
    for (const auto& one : live) {
        if (!standsStill(one.process))
            continue;
        ++still;
        const auto known = before.find(one.incarnation.value);
        const auto since = since_[one.incarnation.value] = known == before.end() ? now : known->second;
        if (now - since >= kPatienceNs)
            found.push_back(one);
    }
    return found.empty() || trainTogether_ ? found : ofThoseAwaited(std::move(found), still < live.size());
}

Result<bool> Standstill::isOverdue(const ProcessIdentity& feeder)
{
    const auto now = clock_.monotonicNs();
    if (!standsStill(feeder))
        feederSinceNs_ = 0;
    else if (feederSinceNs_ == 0)
        feederSinceNs_ = now;
    if (feederSinceNs_ == 0 || now - feederSinceNs_ < kPatienceNs)
        return false;
    FURROW_TRY_ASSIGN(const auto epochs, reader_.epochs());
    return whatIsToCome(epochs) == ToCome::Later;
}

/// @param isAnybodyWell  a worker that goes on, and may wait
Result<std::vector<SupervisorLedger::Expired>> Standstill::ofThoseAwaited(
    std::vector<SupervisorLedger::Expired> still, bool isAnybodyWell)
{
    FURROW_TRY_ASSIGN(const auto epochs, reader_.epochs());
    const auto toCome = whatIsToCome(epochs);
    if (toCome == ToCome::Over || (isAnybodyWell && toCome == ToCome::Held)) // the run's end, or the others, wait
        return still;
    FURROW_TRY_ASSIGN(auto awaited, ledger_.awaitedAtMerge());
    std::erase_if(still, [&](const auto& one) {
        return std::none_of(
            awaited.begin(), awaited.end(), [&](const auto& other) { return other.incarnation == one.incarnation; });
    });
    return still;
}

} // namespace furrow
