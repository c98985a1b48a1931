#pragma once

#include "core/base/message.h"
#include "core/config/schema.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// The replicas of a run and what their weights are; read in one go.
struct ReplicaHeads {
    std::vector<SupervisorLedger::ReplicaRow> replicas;
    std::vector<SupervisorLedger::CheckpointRow> checkpoints;

    /// Those that trained since the last merge.
    std::vector<std::int32_t> unmerged() const;
    /// How many took part in the attempt before; the others are parked.
    int active() const;
};
Result<ReplicaHeads> readReplicaHeads(LedgerReader& ledger);

/// Whether the replicas must become one base before so many go on (core/DECISIONS.md 12): something was trained since
/// the last merge, and another number of them goes on than before or one of those that trained does not.
bool mustMergeBefore(const ReplicaHeads& heads, int replicas);
/// Whether the weights of the run are still in several pieces, parked replicas included.
bool isInPieces(const ReplicaHeads& heads);

/// What becomes of the replicas when an attempt with these settings begins: merged, or left without a worker; "": each
/// goes on as it is, or the devices are not known.
Message replicasInWords(const ReplicaHeads& heads, const RunConfig& wanted);

} // namespace furrow
