#include "core/run/status/lost_evaluations.h"

#include <cmath>
#include <iterator>

namespace furrow {

namespace {

constexpr double kSame = 1e-6; // losses of the same weights

bool isOfMerge(const EvalRecord& eval, const CheckpointRecord& record)
{
    if (record.kind != CheckpointKind::Merge || (eval.weightsStep > 0 && record.step != eval.weightsStep))
        return false;
    return !std::isfinite(eval.loss) || !record.evalLoss || std::abs(*record.evalLoss - eval.loss) < kSame;
}

} // namespace

void LostEvaluations::tell(const PlacedRecord& at, bool isLost)
{
    auto& from = lostFrom_[at.header.worker];
    from.erase(from.lower_bound(at.line.step.step), from.end()); // made anew, on other weights
    if (from.empty() || from.rbegin()->second != isLost)
        from[at.line.step.step] = isLost;
}

/// The one that was saved nearest to it: a worker that takes a merge over evaluates the same weights once more.
const SupervisorLedger::CheckpointRow* LostEvaluations::mergeOf(const PlacedRecord& at) const
{
    const SupervisorLedger::CheckpointRow* found = nullptr;
    const auto apart = [&at](const SupervisorLedger::CheckpointRow& row) {
        return std::abs(static_cast<double>(row.wallNs) * 1e-9 - at.wall);
    };
    for (const auto& row : checkpoints_)
        if (isOfMerge(at.line.eval, row.record) && (found == nullptr || apart(row) < apart(*found)))
            found = &row;
    return found;
}

bool LostEvaluations::has(const PlacedRecord& at) const
{
    if (at.line.eval.what == EvalRecord::What::Merged)
        if (const auto* merge = mergeOf(at))
            return !merge->surviving;
    const auto worker = lostFrom_.find(at.header.worker);
    if (worker == lostFrom_.end())
        return false;
    const auto behind = worker->second.upper_bound(at.line.eval.step);
    return behind != worker->second.begin() && std::prev(behind)->second;
}

} // namespace furrow
