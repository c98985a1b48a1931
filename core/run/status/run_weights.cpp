#include "core/run/status/run_weights.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;

const Row* find(const std::vector<Row>& rows, CheckpointId id)
{
    const auto row = std::lower_bound(
        rows.begin(), rows.end(), id, [](const Row& r, CheckpointId wanted) { return r.id < wanted; });
    return row == rows.end() || row->id != id ? nullptr : &*row;
}

/// The checkpoint and all that it was made from.
std::set<std::int64_t> behind(const std::vector<Row>& rows, const Row& head)
{
    std::set<std::int64_t> found;
    std::vector<CheckpointId> open { head.id };
    while (!open.empty()) {
        const CheckpointId id = open.back();
        open.pop_back();
        const Row* row = found.insert(id.value).second ? find(rows, id) : nullptr;
        if (row != nullptr)
            open.insert(open.end(), row->record.parents.begin(), row->record.parents.end());
    }
    return found;
}

bool isMerge(const Row& row) { return row.record.kind == CheckpointKind::Merge; }

/// Tokens of a head that came after what it shares with `known`.
std::int64_t tokensBeside(const std::vector<Row>& rows, const std::set<std::int64_t>& known, const Row& head)
{
    std::int64_t shared = 0;
    for (const std::int64_t id : behind(rows, head))
        if (const Row* row = known.contains(id) ? find(rows, { id }) : nullptr)
            shared = std::max(shared, row->record.tokens);
    return std::max<std::int64_t>(head.record.tokens - shared, 0);
}

} // namespace

std::optional<RunWeights> weightsOf(const std::vector<Row>& rows)
{
    const Row* best = nullptr;
    const auto rank = [](const Row& row) { return std::tuple(row.record.tokens, isMerge(row), row.id); };
    for (const Row& row : rows)
        if (row.head && !row.damaged && !row.removed && (best == nullptr || rank(row) > rank(*best)))
            best = &row;
    if (best == nullptr)
        return std::nullopt;
    RunWeights weights { *best, 0, best->record.tokens };
    const auto known = behind(rows, *best);
    for (const Row& row : rows) {
        if (!row.head || known.contains(row.id.value))
            continue;
        ++weights.unmergedReplicas;
        weights.tokensOfAll += tokensBeside(rows, known, row);
    }
    return weights;
}

Message whoseWeights(const RunWeights& weights)
{
    const std::string replica = std::to_string(weights.row.record.replica);
    if (!weights.isOneOfSeveral())
        return isMerge(weights.row) ? sentence("all replicas, merged") : sentence("replica %1", { replica });
    const Count tokens(weights.row.record.tokens);
    const Count ofAll(weights.tokensOfAll);
    return isMerge(weights.row)
        ? sentence("a merge with %1 of %2 tokens; others trained what is not in it", { tokens, ofAll })
        : sentence("replica %1's own weights: %2 of %3 tokens; not merged with the others", { replica, tokens, ofAll });
}

std::optional<std::int64_t> unfinishedEpoch(
    const std::vector<EpochRow>& epochs, std::optional<std::int64_t> savedWallNs)
{
    const auto found = std::find_if(epochs.begin(), epochs.end(), [savedWallNs](const EpochRow& epoch) {
        return !epoch.closedWallNs || (savedWallNs && *savedWallNs < *epoch.closedWallNs);
    });
    return found == epochs.end() ? std::nullopt : std::optional(found->epoch);
}

nlohmann::json toJson(const RunWeights& weights)
{
    const auto& record = weights.row.record;
    const Message text = whoseWeights(weights);
    return { { "checkpoint", record.folder }, { "kind", nameOf(record.kind) },
        { "replica", isMerge(weights.row) ? nlohmann::json(nullptr) : nlohmann::json(record.replica) },
        { "step", record.step }, { "tokens", record.tokens }, { "tokens_of_all", weights.tokensOfAll },
        { "unmerged_replicas", weights.unmergedReplicas }, { "text", text }, { "message", toJson(text) } };
}

} // namespace furrow
