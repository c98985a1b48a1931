#pragma once

#include "core/base/message.h"
#include "core/config/run_config.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// A checkpoint that holds none of the newest weights, and that training takes a state from all the same.
struct KeptState {
    SupervisorLedger::CheckpointRow row;
    /// Whose moments of the optimiser these are: its weights come from a merge that was made since. Nothing: the merge
    /// that replicas grew from, with the outer state of DiLoCo.
    std::optional<std::int32_t> replica;
};

/// What a plain resume would take beside the newest weights.
/// @param merge  how the replicas are merged from now on: only DiLoCo takes anything from a merge before
std::vector<KeptState> keptStates(const std::vector<SupervisorLedger::CheckpointRow>& checkpoints,
    const std::vector<SupervisorLedger::ReplicaRow>& replicas, MergeMethod merge);
/// How the replicas are merged by the settings in force.
Result<MergeMethod> mergeInForce(LedgerReader& ledger, const RunConfig& frozen);
/// The same with the settings in force.
Result<std::vector<KeptState>> keptStates(LedgerReader& ledger, const RunConfig& frozen);

/// Reads it. An error says what is wrong (Corrupt: damaged; else it cannot be read) and what going on without it means.
Status verifyKeptState(const RunPaths& paths, const std::string& runId, const KeptState& state);

/// What a person can do about such a state, which a resume does not give up unasked.
/// @param problem  of verifyKeptState()
Message waysPastState(const RunPaths& paths, const Error& problem);

} // namespace furrow
