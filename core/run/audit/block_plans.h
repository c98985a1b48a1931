#pragma once

#include "core/base/result.h"
#include "core/data/plan/block_plan.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// The plans of blocks against their rows in the tracker, in themselves, and against each other: each begins where the
/// plan before it says that its source goes on. Internal to the audit.
class BlockPlans {
public:
    /// @param row  known blocks come one after the other, from the first on
    /// Corrupt: something is wrong, in a sentence. Every other error: this version cannot read the plan.
    Status look(const LedgerReader::BlockRow& row);

private:
    bool goesOnFrom(std::size_t source, const PlannedBlock& plan) const;
    /// Its segments lie one behind the other, none before the end of the one before it, and so does what follows.
    bool addsUp(std::size_t source, const PlannedBlock& plan, const SourcePosition& after) const;

    std::vector<SourcePosition> after_; ///< of the block before
};

} // namespace furrow
