#pragma once

#include "core/tracker/sqlite/database.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

/// Checkpoints and replicas as supervisor and reader show them. Internal to core/tracker.
Result<std::vector<SupervisorLedger::CheckpointRow>> readCheckpoints(Database& db);
Result<std::vector<SupervisorLedger::ReplicaRow>> readReplicas(Database& db);

} // namespace furrow
