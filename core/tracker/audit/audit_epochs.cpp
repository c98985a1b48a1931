#include "core/tracker/audit/audit_epochs.h"

#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"

namespace furrow {

AuditEpochs::AuditEpochs(Database& db, AuditReport& report, AuditFindings& findings)
    : db_(db)
    , report_(report)
    , findings_(findings)
{
}

void AuditEpochs::read()
{
    blockCount_ = db_.integer("SELECT block_count FROM dataset");
    promised_ = db_.integer("SELECT (SELECT sum(chunks) FROM block)*(SELECT count(*) FROM epoch)").value_or(0);
    Rows rows = db_.query("SELECT epoch, closed_wall IS NOT NULL FROM epoch ORDER BY epoch");
    while (rows.next()) {
        AuditEpoch one;
        one.epoch = boundedAt(db_, rows, 0,
            { "epoch", std::ssize(report_.epochs), std::ssize(report_.epochs) }); // they follow one another
        report_.epochs.push_back(one);
        closed_.push_back(rows.integer(1) != 0);
    }
}

AuditEpoch& AuditEpochs::of(ChunkId chunk)
{
    const std::int64_t number = placeOf(chunk).epoch;
    if (number < std::ssize(report_.epochs))
        return report_.epochs[static_cast<std::size_t>(number)];
    findings_.holds.states = false;
    if (strayEpochs_.insert(number).second)
        findings_.find(FindingKind::Counters, {},
            sentence("there are chunks of epoch %1, which never began", { std::to_string(number + 1) }));
    return nowhere_;
}

void AuditEpochs::close()
{
    const std::int64_t promised = db_.integer("SELECT sum(chunks) FROM block").value_or(0);
    const std::int64_t blocks = db_.integer("SELECT count(*) FROM block").value_or(0);
    const bool proven = blockCount_.has_value() && *blockCount_ == blocks;
    if (blockCount_ && !proven) {
        findings_.holds.states = false;
        findings_.find(FindingKind::Counters, {},
            sentence("the tracker says that the data has %1 blocks, and it has rows of %2",
                { std::to_string(*blockCount_), std::to_string(blocks) }));
    }
    for (std::size_t i = 0; i < report_.epochs.size(); ++i) {
        AuditEpoch& one = report_.epochs[i];
        if (proven)
            one.expected = promised;
        const bool fullyOpened
            = db_.integer("SELECT fully_opened FROM epoch WHERE epoch=?", one.epoch).value_or(0) == 1;
        if (!fullyOpened && (one.epoch == 0 || i + 1 < report_.epochs.size()))
            findings_.wrong(FindingKind::Counters, {},
                sentence(
                    "epoch %1 is marked as one that is still being opened, which only the newest can be, and never the first: its row was changed",
                    { std::to_string(one.epoch + 1) }));
        if (fullyOpened && one.known < promised) {
            one.missing += promised - one.known;
            findings_.holds.states = false;
            findings_.find(FindingKind::Missing, {},
                sentence("epoch %1 has %2 chunks, its blocks promise %3",
                    { std::to_string(one.epoch + 1), std::to_string(one.known), std::to_string(promised) }));
        }
        one.complete = proven && fullyOpened && one.remaining == 0 && one.poisoned == 0 && one.missing == 0
            && one.duplicated == 0;
        if (closed_[i] && (!proven || one.remaining > 0 || one.poisoned > 0)) {
            findings_.holds.closing = false;
            findings_.find(FindingKind::Missing, {},
                one.remaining + one.poisoned == 1
                    ? sentence("epoch %1 is closed although 1 chunk is left", { std::to_string(one.epoch + 1) })
                    : sentence("epoch %1 is closed although %2 chunks are left",
                          { std::to_string(one.epoch + 1), std::to_string(one.remaining + one.poisoned) }));
        }
    }
}

} // namespace furrow
