#include "core/run/status/lost_by_epoch.h"

#include "core/run/status/open_epochs.h"
#include "core/tracker/given_up.h"

namespace furrow {

Result<std::map<std::int64_t, LostCauses>> lostCauses(
    const std::vector<EpochRow>& epochs, const std::vector<ChunkId>& lost, LedgerReader& ledger)
{
    std::map<std::int64_t, LostCauses> causes;
    for (const EpochRow& epoch : epochs)
        if (const auto chunks = epoch.lost.sum(); chunks > 0)
            causes[epoch.epoch].died = chunks; // but for those that a checkpoint had
    if (lost.empty()) // all are held by processes that died
        return causes;
    FURROW_TRY_ASSIGN(const auto givenUp, ledger.givenUpByCheckpoints());
    for (const ChunkId chunk : lost) {
        const auto* found = findGivenUp(givenUp, chunk);
        if (found == nullptr)
            continue;
        LostCauses& epoch = causes[placeOf(chunk).epoch];
        --epoch.died;
        ++(found->wentBack ? epoch.wentBack : epoch.damaged);
    }
    return causes;
}

LostCauses sumOf(const std::map<std::int64_t, LostCauses>& byEpoch, const ShownEpochs& shown)
{
    LostCauses sum;
    for (auto one = byEpoch.lower_bound(shown.first); one != byEpoch.end() && one->first <= shown.last; ++one)
        sum += one->second;
    return sum;
}

} // namespace furrow
