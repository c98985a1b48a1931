#pragma once

#include "core/telemetry/export.h"
#include "core/tracker/supervisor_ledger.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace furrow {

/// Judges the evaluations of a run, in the order of its records: whether the weights that were evaluated are in no
/// model any more, because they died or the run went back to older ones. Those of a worker are what its last step
/// before left; those of a merge are its checkpoint, known by its steps and its loss.
class LostEvaluations {
public:
    /// @param checkpoints  all of the run
    explicit LostEvaluations(std::vector<SupervisorLedger::CheckpointRow> checkpoints)
        : checkpoints_(std::move(checkpoints))
    {
    }
    /// @param at  a step  @param isLost  as LostSteps says
    void tell(const PlacedRecord& at, bool isLost);
    /// @param at  an evaluation
    bool has(const PlacedRecord& at) const;

private:
    const SupervisorLedger::CheckpointRow* mergeOf(const PlacedRecord& at) const;

    std::vector<SupervisorLedger::CheckpointRow> checkpoints_;
    std::map<int, std::map<std::int64_t, bool>>
        lostFrom_; ///< worker -> step -> whether it and those behind it, up to the next one here, are lost
};

} // namespace furrow
