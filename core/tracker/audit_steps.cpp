#include "core/tracker/audit_steps.h"

#include "core/base/sentence.h"
#include "core/tracker/audit_history.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/moves.h"
#include "core/tracker/row_bounds.h"

#include <unordered_map>

// How this works: a worker counts its steps from 1, and trains its claims one after the other, so the steps of its next claim follow on those of the
// one before. A claim that was given back after a checkpoint took all of it has no figures of its own; its parts have them.

namespace furrow {

namespace {

    class StepAuditor {
    public:
        StepAuditor(Database& db, StepsAudit& found)
            : db_(db)
            , found_(found)
            , processes_(knownProcesses(db))
        {
        }

        void run()
        {
            checkClaims();
            checkCheckpoints();
        }

    private:
        void wrong(std::string text)
        {
            if (found_.wrong.size() < kMaxAuditFindings)
                found_.wrong.push_back(std::move(text));
        }

        // Two tables in the order of the same number.
        void checkClaims()
        {
            Rows parts = db_.query("SELECT claim, checkpoint, steps FROM part ORDER BY claim");
            bool more = parts.next();
            Rows claims = db_.query("SELECT id, incarnation, outcome, first_step, last_step, steps, done<>'' OR skipped<>'' FROM claim ORDER BY id");
            while (claims.next()) {
                ++found_.claims;
                std::int64_t inParts = 0;
                std::int64_t checkpoint = 0;
                for (; more && parts.integer(0) <= claims.integer(0); more = parts.next()) {
                    const std::int64_t steps = boundedAt(db_, parts, 2, kAmountBounds);
                    addedBy_[parts.integer(1)] += steps;
                    inParts += parts.integer(0) == claims.integer(0) ? steps : 0;
                    checkpoint = parts.integer(1);
                }
                if (!processes_.rebuilt.contains(claims.integer(1)))
                    checkClaim(claims, inParts, checkpoint);
            }
        }

        void checkClaim(const Rows& claim, std::int64_t inParts, std::int64_t checkpoint)
        {
            const auto amount = [&](int column) { return boundedAt(db_, claim, column, kAmountBounds); };
            std::int64_t& counted = stepsOf_[claim.integer(1)];
            const std::string name = std::to_string(claim.integer(0));
            if (claim.integer(6) == 0) {
                counted += inParts;
                return;
            }
            const std::int64_t first = amount(3);
            if (first != counted + 1)
                wrong(sentence("claim %1 says that it began with step %2 of worker process %3, which had made %4 before: the row of a claim was changed", { name, std::to_string(first), std::to_string(claim.integer(1)), std::to_string(counted) }));
            if (inParts > amount(5))
                wrong(sentence("claim %1 says that it took %2 steps, checkpoint %3 and others have %4 of it: the row of a claim or of a part was changed", { name, std::to_string(claim.integer(5)), std::to_string(checkpoint), std::to_string(inParts) }));
            counted = std::max(first - 1, amount(4));
        }

        void checkCheckpoints()
        {
            Rows rows = db_.query("SELECT c.id, c.step, p.step, c.incarnation FROM checkpoint c LEFT JOIN (SELECT e.checkpoint, max(o.step) AS step FROM parent e JOIN checkpoint o ON o.id=e.parent GROUP BY 1) p"
                                  " ON p.checkpoint=c.id WHERE c.kind=0 ORDER BY c.id");
            while (rows.next()) {
                ++found_.checkpoints;
                const std::int64_t made = boundedAt(db_, rows, 1, kAmountBounds) - rows.integer(2);
                const std::int64_t added = addedBy_.contains(rows.integer(0)) ? addedBy_.at(rows.integer(0)) : 0;
                if (made != added && !processes_.rebuilt.contains(rows.integer(3)))
                    wrong(sentence("checkpoint %1 is %2 steps further than what it was made from, its parts have %3: the row of a part or of a checkpoint was changed", { std::to_string(rows.integer(0)), std::to_string(made), std::to_string(added) }));
            }
        }

        Database& db_;
        StepsAudit& found_;
        const KnownProcesses processes_;
        std::unordered_map<std::int64_t, std::int64_t> stepsOf_; // by worker process
        std::unordered_map<std::int64_t, std::int64_t> addedBy_; // by checkpoint
    };

} // namespace

Result<StepsAudit> auditSteps(const std::filesystem::path& tracker, const AuditWatch& watch)
{
    auto db = openForReading(tracker);
    if (!db.ok())
        return db.error();
    db.value().endWith(watch.stop);
    StepsAudit found;
    auto view = Transaction::read(db.value());
    if (!view.ok())
        return view.error();
    StepAuditor(db.value(), found).run();
    if (Status status = view.value().commit(); !status.ok()) {
        if (watch.stop.stop_requested())
            return Error { ErrorCode::Cancelled, sentence("the audit was ended before it was done") };
        return status.error().in("auditing");
    }
    return found;
}

} // namespace furrow
