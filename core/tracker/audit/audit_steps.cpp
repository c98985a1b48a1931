#include "core/tracker/audit/audit_steps.h"

#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"

#include <algorithm>

// How this works: a worker counts its steps from 1, and trains its claims one after the other, so the steps of its next
// claim follow on those of the one before. A claim that was given back after a checkpoint took all of it has no figures
// of its own; its parts have them.

namespace furrow {

namespace {

void note(StepsAudit& found, Message text)
{
    if (found.wrong.size() < kMaxAuditFindings)
        found.wrong.push_back(std::move(text));
}

void checkClaims(const KnownProcesses& processes, const AuditParts& parts, StepsAudit& found)
{
    std::unordered_map<std::int64_t, std::int64_t> made; // steps by worker process
    for (const PartsOfClaim& one : parts.byClaim()) {
        ++found.claims;
        if (processes.rebuilt.contains(one.claimant))
            continue;
        std::int64_t& before = made[one.claimant];
        if (!one.finished) {
            before += one.steps;
            continue;
        }
        if (one.firstStep != before + 1)
            note(found,
                sentence(
                    "claim %1 says that it began with step %2 of worker process %3, which had made %4 before: the row of a claim was changed",
                    { std::to_string(found.claims), std::to_string(one.firstStep), std::to_string(one.claimant),
                        std::to_string(before) }));
        if (one.steps > one.claimSteps)
            note(found,
                sentence(
                    "claim %1 says that it took %2 steps, checkpoint %3 and others have %4 of it: the row of a claim or of a part was changed",
                    { std::to_string(found.claims), std::to_string(one.claimSteps), std::to_string(one.checkpoint),
                        std::to_string(one.steps) }));
        before = std::max(one.firstStep - 1, one.lastStep);
    }
}

void checkCheckpoints(Database& db, const KnownProcesses& processes, const AuditParts& parts, StepsAudit& found)
{
    Rows rows = db.query(
        "SELECT c.id, c.step, p.step, c.incarnation FROM checkpoint c LEFT JOIN (SELECT e.checkpoint, max(o.step) AS step FROM parent e JOIN checkpoint o ON o.id=e.parent GROUP BY 1) p"
        " ON p.checkpoint=c.id WHERE c.kind=0 ORDER BY c.id");
    while (rows.next()) {
        ++found.checkpoints;
        const std::int64_t made = boundedAt(db, rows, 1, kTotalBounds) - rows.integer(2);
        const std::int64_t added = parts.stepsAddedBy(rows.integer(0));
        if (made != added && !processes.rebuilt.contains(rows.integer(3)))
            note(found,
                sentence(
                    "checkpoint %1 is %2 steps further than what it was made from, its parts have %3: the row of a part or of a checkpoint was changed",
                    { std::to_string(rows.integer(0)), std::to_string(made), std::to_string(added) }));
    }
}

} // namespace

StepsAudit checkSteps(Database& db, const KnownProcesses& processes, const AuditParts& parts)
{
    StepsAudit found;
    checkClaims(processes, parts, found);
    checkCheckpoints(db, processes, parts, found);
    return found;
}

} // namespace furrow
