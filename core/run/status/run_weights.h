#pragma once

#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// The weights that a run is known by: what eval, sample, chat, export, `brain show`, status and console mean by "the
/// newest".
///
/// Where all replicas stand on one checkpoint it is that. Else it is the head with the most tokens trained behind it:
/// never a merge that a replica has trained on from, since that one has seen all of the merge and more. Of several with
/// as many a merge, then the newest. Weights of one replica lack what the others trained since they were merged last;
/// isOneOfSeveral() tells, and it is to be said.
struct RunWeights {
    SupervisorLedger::CheckpointRow row;
    std::int64_t unmergedReplicas = 0; ///< others that trained what is not in these weights
    std::int64_t tokensOfAll
        = 0; ///< behind the heads of all replicas, what they share counted once; without others row.record.tokens

    bool isOneOfSeveral() const { return unmergedReplicas > 0; }
};

/// @param rows  all of the run, ascending by id as the ledger gives them
/// @return nothing: there is no head whose files are there and whole
std::optional<RunWeights> weightsOf(const std::vector<SupervisorLedger::CheckpointRow>& rows);

/// "all replicas, merged", "replica 1's own weights: 37 of 120 tokens; not merged with the others", or "replica 0": a
/// sentence (core/base/sentence.h).
Message whoseWeights(const RunWeights& weights);

/// The first epoch that weights do not have all of, from 0; nothing: there is none.
/// @param savedWallNs  when they were saved or evaluated; nothing: they are the newest of the run
std::optional<std::int64_t> unfinishedEpoch(
    const std::vector<EpochRow>& epochs, std::optional<std::int64_t> savedWallNs);

/// {"checkpoint", "kind", "replica" (null: a merge), "step", "tokens", "tokens_of_all", "unmerged_replicas", "text":
/// whoseWeights()}
nlohmann::json toJson(const RunWeights& weights);

} // namespace furrow
