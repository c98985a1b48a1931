#include "core/run/start/replica_heads.h"

#include "core/base/sentence.h"
#include "core/device/placement.h"

#include <algorithm>
#include <set>

namespace furrow {

std::vector<std::int32_t> ReplicaHeads::unmerged() const
{
    std::vector<std::int32_t> found;
    for (const auto& replica : replicas) {
        const auto row = std::find_if(checkpoints.begin(), checkpoints.end(),
            [&](const auto& c) { return replica.head && c.id == *replica.head; });
        if (row != checkpoints.end() && row->record.kind == CheckpointKind::Replica)
            found.push_back(replica.replica);
    }
    return found;
}

int ReplicaHeads::active() const
{
    return static_cast<int>(std::count_if(replicas.begin(), replicas.end(), [](const auto& r) { return !r.parked; }));
}

Result<ReplicaHeads> readReplicaHeads(LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(auto replicas, ledger.replicas());
    FURROW_TRY_ASSIGN(auto checkpoints, ledger.checkpoints());
    return ReplicaHeads { std::move(replicas), std::move(checkpoints) };
}

bool mustMergeBefore(const ReplicaHeads& heads, int replicas)
{
    const auto open = heads.unmerged();
    const bool leftOver
        = std::any_of(open.begin(), open.end(), [replicas](std::int32_t replica) { return replica >= replicas; });
    return leftOver || (!open.empty() && heads.active() != replicas);
}

bool isInPieces(const ReplicaHeads& heads)
{
    std::set<std::int64_t> different;
    for (const auto& replica : heads.replicas)
        if (replica.head)
            different.insert(replica.head->value);
    return different.size() > 1;
}

Message replicasInWords(const ReplicaHeads& heads, const RunConfig& wanted)
{
    const auto placed = placeWorkersHere(wanted);
    if (!placed.ok())
        return {};
    const int replicas = wanted.parallel == ParallelMode::Data ? 1 : static_cast<int>(placed.value().size());
    if (!mustMergeBefore(heads, replicas))
        return {};
    const auto open = static_cast<std::int64_t>(heads.unmerged().size());
    if (wanted.merge == MergeMethod::None && replicas > heads.active())
        return sentence(
            "Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those that are added start from the newest merge, or from what the run began with.",
            { Count(open), Count(replicas) });
    if (wanted.merge == MergeMethod::None)
        return sentence(
            "Replicas with weights of their own: %1; from now on: %2. They are not merged (merge is none): those without a worker keep their weights and are trained no further.",
            { Count(open), Count(replicas) });
    return sentence(
        "Replicas with weights of their own: %1; from now on: %2. Before the first step they are merged (%3), and each starts from the merge.",
        { Count(open), Count(replicas), toString(wanted.merge) });
}

} // namespace furrow
