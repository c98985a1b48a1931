#include "core/run/folder/accepted_loss.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/removed_weights.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

namespace furrow {

namespace {

using Rows = std::vector<SupervisorLedger::CheckpointRow>;

/// Which checkpoints can be gone on from; each is read once.
class Wholeness {
public:
    Wholeness(const RunPaths& paths, const std::string& runId, const Rows& rows)
        : paths_(paths)
        , runId_(runId)
        , rows_(rows)
    {
    }

    bool of(CheckpointId id)
    {
        const auto known = verdicts_.find(id);
        if (known != verdicts_.end())
            return known->second;
        const auto row = std::ranges::find(rows_, id, &SupervisorLedger::CheckpointRow::id);
        const bool isWhole = row != rows_.end() && verifyWhereItLies(paths_, runId_, *row, &frozen_).ok();
        return verdicts_[id] = isWhole;
    }

    std::vector<CheckpointId> thereAgain()
    {
        std::vector<CheckpointId> found;
        for (const auto& row : rows_)
            if (isThereAgain(paths_, runId_, row, &frozen_))
                found.push_back(row.id);
        return found;
    }

private:
    const RunPaths& paths_;
    const std::string& runId_;
    const Rows& rows_;
    FrozenVerdicts frozen_;
    std::map<CheckpointId, bool> verdicts_;
};

/// Where the replicas would stand, by name; "": at the start weights, all of them.
std::string namesOf(const std::map<std::int32_t, CheckpointId>& heads, const Rows& rows)
{
    std::set<CheckpointId> ids;
    for (const auto& [replica, head] : heads)
        ids.insert(head);
    std::string names;
    for (const auto& row : rows)
        if (ids.contains(row.id))
            names += (names.empty() ? "" : ", ") + row.record.folder;
    return names;
}

} // namespace

Result<Message> acceptedLoss(const RunPaths& paths, const std::string& runId, LedgerReader& tracker)
{
    FURROW_TRY_ASSIGN(const auto rows, tracker.checkpoints());
    Wholeness wholeness(paths, runId, rows);
    const auto thereAgain = wholeness.thereAgain();
    const std::string dryRun = "furrowctl resume " + utf8Text(paths.folder()) + " --accept-loss --dry-run";
    std::vector<CheckpointId> bad;
    for (;;) { // a head that is away falls back, perhaps to another such one
        FURROW_TRY_ASSIGN(const auto then, tracker.retreat(std::nullopt, bad, thereAgain));
        const auto before = bad.size();
        for (const auto& [replica, head] : then.heads)
            if (std::ranges::find(bad, head) == bad.end() && !wholeness.of(head))
                bad.push_back(head);
        if (bad.size() != before)
            continue;
        const auto names = namesOf(then.heads, rows);
        const Count again(std::ssize(then.chunks));
        if (names.empty() && !rows.empty())
            return sentence(
                "With it none of the checkpoints that the tracker knows is there and whole any more: training would begin from the start weights. Chunks that it has as trained and that would be trained again: %1. '%2' shows it.",
                { again, dryRun });
        if (names.empty())
            return sentence(
                "With it training would begin from the start weights, for the tracker knows no checkpoint. '%1' shows it.",
                { dryRun });
        return sentence(
            "With it training would go on from %1. Chunks that the tracker has as trained and that would be trained again: %2. '%3' shows it.",
            { names, again, dryRun });
    }
}

} // namespace furrow
