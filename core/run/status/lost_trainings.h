#pragma once

#include "core/telemetry/export.h"
#include "core/telemetry/snapshot.h"
#include "core/tracker/ledger_reader.h"

#include <map>
#include <span>
#include <utility>

namespace furrow {

/// A training whose weights are gone: its steps are in no model but for the first ones, whether they were trained again
/// yet or not.
struct LostTraining {
    int worker = 0;
    std::int64_t attempt = 0;
    std::int64_t chunk = 0;
    double from = 0; ///< [s since 1970] its steps are told in this time: clocks may be apart, but a claim of the same
                     ///< chunk by the same worker before or after it is another training
    double until = 0; ///< not included
    std::int64_t keptSteps = 0; ///< its first steps, which a surviving checkpoint has: these are not lost
    bool operator==(const LostTraining&) const = default;
};

/// @param claims  all of the run, in their order
/// @param gone  what processes hold that are gone (RunStatus::goneHolds): the ledger has not freed it yet
std::vector<LostTraining> lostTrainings(const std::vector<ClaimRow>& claims, const std::vector<ChunkCell>& gone);

/// The one of them that a step belongs to which a worker told at `wall` [s since 1970]; null: none. The step is lost
/// unless it is among keptSteps.
/// @param worker  who claimed the chunk: for a rank of a data-parallel group rank 0 (claimant())
const LostTraining* lostTrainingAt(
    const std::vector<LostTraining>& lost, int worker, std::int64_t attempt, std::int64_t chunk, double wall);

/// The worker that claims for one that told a step as this rank: the ranks of a group are numbered as its workers, and
/// rank 0 holds all claims.
inline int claimant(int worker, int rank) { return worker - rank; }

/// Whether the step that a process told last, which is gone, is in no weights. It tells them about once a second, so it
/// may have begun a training since that is not the one of that step.
/// @param claims  of that process, in their order; the newest are enough
bool isStepOfNoWeights(std::int64_t step, std::span<const ClaimRow> claims);

/// Whether a step of a lost training is in no weights. @param first  the first step of that training
inline bool isLostStep(const LostTraining& training, std::int64_t first, std::int64_t step)
{
    return step - first >= training.keptSteps;
}

/// Where the lost steps of a stretch begin, as LostSteps judges each of them; its size: none is lost. Work after the
/// last checkpoint of a worker is lost, never work before it: they are the end of the stretch.
std::size_t lostFrom(const Stretch& stretch, const std::vector<LostTraining>& lost);

/// Judges the steps of a run in the order in which each worker made them.
class LostSteps {
public:
    explicit LostSteps(std::vector<LostTraining> lost)
        : lost_(std::move(lost))
    {
    }
    /// @param at  a step
    bool has(const PlacedRecord& at);

private:
    std::vector<LostTraining> lost_;
    std::map<std::pair<const LostTraining*, int>, std::int64_t> firstSteps_; ///< of each worker in it
};

} // namespace furrow
