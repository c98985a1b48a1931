#include "core/run/folder/kept_states.h"

#include "core/base/denied.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/checkpoint_manifest.h"

#include <algorithm>

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;
using Rows = std::vector<Row>;

const Row* find(const Rows& rows, CheckpointId id)
{
    const auto found = std::find_if(rows.begin(), rows.end(), [id](const Row& row) { return row.id == id; });
    return found == rows.end() ? nullptr : &*found;
}

bool isThere(const Row& row) { return row.surviving && !row.damaged && !row.removed; }

/// The newest own checkpoint of a replica, as a worker looks for it.
const Row* newestOwn(const Rows& rows, std::int32_t replica, CheckpointId head)
{
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) {
        return row.record.kind == CheckpointKind::Replica && row.record.replica == replica && isThere(row)
            && row.id <= head;
    });
    return found == rows.rend() ? nullptr : &*found;
}

/// The merge that a head is, or grew from.
const Row* baseOf(const Rows& rows, const Row* row)
{
    while (row != nullptr && row->record.kind != CheckpointKind::Merge)
        row = row->record.parents.empty() ? nullptr : find(rows, row->record.parents.front());
    return row;
}

Message withoutIt(const KeptState& state)
{
    return state.replica
        ? sentence(
              "Replica %1, which stands on a merge, takes the moments of its optimiser from there: without it they are those of an older checkpoint, or start afresh.",
              { std::to_string(*state.replica) })
        : sentence(
              "The replicas grew from it: without it their next merge is a plain average, and the outer state of DiLoCo starts afresh.");
}

} // namespace

std::vector<KeptState> keptStates(
    const Rows& checkpoints, const std::vector<SupervisorLedger::ReplicaRow>& replicas, MergeMethod merge)
{
    std::vector<KeptState> states;
    const auto add = [&states](const Row* row, std::optional<std::int32_t> replica) {
        const bool isKnown = row == nullptr || row->head || !isThere(*row)
            || std::any_of(states.begin(), states.end(), [row](const auto& state) { return state.row.id == row->id; });
        if (!isKnown)
            states.push_back({ *row, replica });
    };
    for (const auto& replica : replicas) {
        const Row* head = replica.head && !replica.parked ? find(checkpoints, *replica.head) : nullptr;
        if (head == nullptr)
            continue;
        add(newestOwn(checkpoints, replica.replica, head->id), replica.replica);
        if (merge == MergeMethod::DiLoCo)
            add(baseOf(checkpoints, head), std::nullopt);
    }
    return states;
}

Result<MergeMethod> mergeInForce(LedgerReader& ledger, const RunConfig& frozen)
{
    FURROW_TRY_ASSIGN(const auto attempts, ledger.attempts());
    const auto config = latestConfig(attempts, frozen); // settings that nobody can use are for others to name
    return config.ok() ? config.value().merge : frozen.merge;
}

Result<std::vector<KeptState>> keptStates(LedgerReader& ledger, const RunConfig& frozen)
{
    FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
    FURROW_TRY_ASSIGN(const auto replicas, ledger.replicas());
    FURROW_TRY_ASSIGN(const MergeMethod merge, mergeInForce(ledger, frozen));
    return keptStates(rows, replicas, merge);
}

Status verifyKeptState(const RunPaths& paths, const std::string& runId, const KeptState& state)
{
    const auto& record = state.row.record;
    const auto files = verifyOwnFiles(paths.checkpointFolder(record.folder), record.manifestSha256, runId);
    if (files.ok())
        return {};
    return Error { files.error().code, withFullStop(files.error().message) + " " + withoutIt(state) };
}

Message waysPastState(const RunPaths& paths, const Error& problem)
{
    if (isForRights(problem.message))
        return sentence(kOnlyRightsMissing);
    const auto folder = utf8Text(paths.folder());
    return problem.code == ErrorCode::Corrupt
        ? sentence(
              "Put a whole copy back and resume; or 'furrowctl resume %1 --accept-loss' goes on without it. No weights are given up and nothing is trained again.",
              { folder })
        : sentence(
              "Bring the file or its disk back and resume; or 'furrowctl resume %1 --accept-loss' goes on without it. No weights are given up and nothing is trained again.",
              { folder });
}

} // namespace furrow
