#pragma once

#include "core/run/run_file.h"
#include "core/run/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <string>
#include <vector>

namespace furrow {

/// What an earlier attempt left behind is put in order before a new one begins: processes that still run are ended,
/// their claims freed, checkpoints verified (a damaged one falls back to the one before), leftover folders removed.
/// Called by the supervisor only, while it holds the run's lock. Returns what was done, in sentences.
/// @param goBackTo  a person wants to go on from this checkpoint: what is newer leaves the lineage
Result<std::vector<std::string>> recoverRun(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, std::optional<CheckpointId> goBackTo = {});

/// Verifies the newest weights of every replica; a damaged one falls back to the one before and frees its chunks. Returns what was
/// done, in sentences.
Result<std::vector<std::string>> verifyHeads(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger);

/// Deletes checkpoint folders that the keep policy no longer wants: kept are the newest `keepLast` of each replica, the best by
/// evaluation, the merges that kept ones grew from, and pinned ones. Rows stay, files go.
Status applyKeepPolicy(const RunPaths& paths, SupervisorLedger& ledger, int keepLast);

} // namespace furrow
