#include "core/tracker/replica_steps.h"

#include "core/tracker/row_bounds.h"
#include "core/tracker/types.h"

#include <algorithm>
#include <vector>

// How this works: a checkpoint of a replica is as many steps further than what it was made from as its process made
// since. A merge adds none, and has those of each replica that its inputs have: a replica keeps its own count through
// merges.

namespace furrow {

namespace {

using StepsOfReplicas = std::map<std::int64_t, std::int64_t>;

struct Saved {
    std::int64_t wall = 0;
    std::int64_t steps = 0; ///< of its own replica
    bool surviving = false;
};

std::map<std::int64_t, std::vector<std::int64_t>> parents(Database& db)
{
    std::map<std::int64_t, std::vector<std::int64_t>> found;
    Rows rows = db.query("SELECT checkpoint, parent FROM parent ORDER BY checkpoint, parent");
    while (rows.next())
        found[rows.integer(0)].push_back(rows.integer(1));
    return found;
}

/// @param saved  of one replica, the oldest first
std::int64_t stepsAt(std::int64_t wall, const std::vector<Saved>& saved)
{
    std::int64_t steps = 0;
    for (const Saved& one : saved)
        if (one.surviving && one.wall <= wall)
            steps = one.steps;
    return steps;
}

} // namespace

std::map<std::int64_t, std::int64_t> stepsBeforeProcesses(Database& db)
{
    std::map<std::int64_t, std::int64_t> before;
    for (const auto& [process, steps] : stepsOfProcesses(db))
        before.emplace(process, steps.before);
    return before;
}

std::map<std::int64_t, ProcessSteps> stepsOfProcesses(Database& db)
{
    const auto parentsOf = parents(db);
    struct Checkpoint {
        std::int64_t step = 0; ///< behind the weights
        StepsOfReplicas steps;
    };
    std::map<std::int64_t, Checkpoint> checkpoints;
    std::map<std::int64_t, ProcessSteps> processes;
    std::map<std::int64_t, std::vector<Saved>> ofReplica;
    {
        Rows rows
            = db.query("SELECT id, kind, replica, incarnation, step, wall, surviving FROM checkpoint ORDER BY id");
        while (rows.next()) {
            Checkpoint one { boundedAt(db, rows, 4, kTotalBounds), {} };
            std::int64_t from = 0;
            if (const auto known = parentsOf.find(rows.integer(0)); known != parentsOf.end())
                for (const std::int64_t id : known->second) {
                    const auto parent = checkpoints.find(id);
                    if (parent == checkpoints.end())
                        continue;
                    from = std::max(from, parent->second.step);
                    for (const auto& [replica, steps] : parent->second.steps)
                        one.steps[replica] = std::max(one.steps[replica], steps);
                }
            if (rows.integer(1) == static_cast<std::int64_t>(CheckpointKind::Replica)) {
                std::int64_t& own = one.steps[rows.integer(2)];
                ProcessSteps& process = processes.try_emplace(rows.integer(3), ProcessSteps { own, own }).first->second;
                own = std::min(own + std::max<std::int64_t>(0, one.step - from), kTotalBounds.most);
                process.saved = own;
                ofReplica[rows.integer(2)].push_back({ rows.integer(5), own, rows.integer(6) != 0 });
            }
            checkpoints.emplace(rows.integer(0), std::move(one));
        }
    }
    Rows rows = db.query("SELECT id, replica, started_wall FROM incarnation");
    while (rows.next())
        if (const auto saved = ofReplica.find(rows.integer(1)); saved != ofReplica.end()) {
            const std::int64_t before = stepsAt(rows.integer(2), saved->second);
            processes.try_emplace(rows.integer(0), ProcessSteps { before, before });
        }
    return processes;
}

} // namespace furrow
