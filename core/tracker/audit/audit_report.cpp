#include "core/tracker/audit/audit.h"

#include <algorithm>

namespace furrow {

bool AuditReport::couldInspect() const
{
    return std::all_of(
        inspections.begin(), inspections.end(), [](const AuditInspection& one) { return one.unreadable == 0; });
}

bool AuditReport::inspectedWeights() const
{
    return std::any_of(inspections.begin(), inspections.end(),
        [](const AuditInspection& one) { return one.what == Evidence::Weights; });
}

bool AuditReport::isClean() const
{
    if (std::any_of(inspections.begin(), inspections.end(), [](const AuditInspection& one) { return one.wrong > 0; }))
        return false;
    const bool counts = std::all_of(epochs.begin(), epochs.end(), [](const AuditEpoch& epoch) {
        return epoch.duplicated == 0 && epoch.missing == 0 && epoch.overlappingClaims == 0 && epoch.rowsAddUp;
    });
    return counts && integrityOk
        && std::all_of(
            invariants.begin(), invariants.end(), [](const AuditInvariant& invariant) { return invariant.holds; });
}

} // namespace furrow
