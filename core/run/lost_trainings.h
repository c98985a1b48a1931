#pragma once

#include "core/tracker/ledger_reader.h"

namespace furrow {

/// A training whose weights are gone: its steps are in no model, whether they were trained again yet or not.
struct LostTraining {
    int worker = 0;
    std::int64_t attempt = 0;
    std::int64_t chunk = 0;
    double began = 0; ///< s since 1970
    double ended = 0; ///< as far as it came; 0: not known
    bool operator==(const LostTraining&) const = default;
};

/// @param gone  what processes hold that are gone (RunStatus::goneHolds): the ledger has not freed it yet
std::vector<LostTraining> lostTrainings(const std::vector<ClaimRow>& claims, const std::vector<ChunkCell>& gone);

/// Whether a step that a worker told at `wall` [s since 1970] belongs to one of them.
bool isLostStep(const std::vector<LostTraining>& lost, int worker, std::int64_t attempt, std::int64_t chunk, double wall);

} // namespace furrow
