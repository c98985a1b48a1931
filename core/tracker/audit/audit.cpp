#include "core/tracker/audit/audit.h"

#include "core/base/sentence.h"
#include "core/tracker/audit/audit_chunks.h"
#include "core/tracker/audit/audit_findings.h"
#include "core/tracker/audit/audit_gathered.h"
#include "core/tracker/audit/audit_lineage.h"
#include "core/tracker/audit/audit_steps.h"
#include "core/tracker/audit/audit_work.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

// How this works: passes, each in the order of an index. Chunks give the states, rows and the windows that surviving
// weights hold (audit_chunks), parts what checkpoints took of each claim (audit_claims), claims the overlaps, their own
// figures and the work lost (audit_work), events what happened to the run. Nothing is taken from the ledger's counters,
// except to compare them (audit_tallies).

namespace furrow {

namespace {

class Auditor {
public:
    Auditor(Database& db, LedgerReader& reader, const AuditWatch& watch, AuditReport& report)
        : db_(db)
        , reader_(reader)
        , report_(report)
        , findings_(reader, report)
        , gathered_(db, report, findings_)
        , chunks_(db, watch, gathered_, findings_, wrong_)
        , work_(db, gathered_, findings_, wrong_)
    {
    }

    void run()
    {
        gathered_.named = namedChunks(db_);
        gathered_.epochs.read();
        checkNamedChunks(db_, gathered_.named, wrong_); // before what is named of them and no fault
        gathered_.surviving = checkLineage(db_, wrong_);
        chunks_.check();
        gathered_.parts.read(db_, gathered_.tallies, wrong_);
        work_.check();
        checkHistory();
        gathered_.tallies.compare(db_, wrong_);
        checkShortcuts(db_, wrong_);
        gathered_.epochs.close();
        nameParents();
        nameRepairs();
        nameLeftOut();
        work_.nameLost();
        report_.invariants = {
            { "I1", "every chunk is in exactly one state, and the counters agree with the chunks",
                findings_.holds.states },
            { "I2", "every committed chunk is in exactly one surviving lineage, window by window",
                findings_.holds.lineage },
            { "I3", "samples trained, skipped, filtered, failed, held out and duplicate add up to the rows",
                findings_.holds.rows },
            { "I4", "an epoch is closed only when nothing is left to train and everything else is named",
                findings_.holds.closing },
            { "I5",
                "what the ledger says in two places it says alike: claims, parts, blocks, rounds of merging, events",
                findings_.holds.records },
        };
    }

    StepsAudit steps() { return checkSteps(db_, gathered_.processes, gathered_.parts); }

private:
    // Histories only grow: ids follow one another, so a row that was taken out leaves a gap. Only a process that a
    // repair wrote down stands for those before it too, of which the history was lost.
    void checkHistory()
    {
        constexpr const char* kStoodFor
            = "SELECT sum(id-previous-1) FROM (SELECT id, pid=0 AND boot_id='' AS rebuilt, lag(id, 1, 0) OVER (ORDER BY id) AS previous FROM incarnation) WHERE rebuilt";
        const auto whole = [&](const char* name, std::int64_t rows, std::int64_t newest) {
            if (rows == newest)
                return;
            findings_.holds.lineage = false;
            findings_.find(FindingKind::History, {},
                sentence("the table %1 has %2 rows and ids up to %3: rows were taken out of the history",
                    { name, std::to_string(rows), std::to_string(newest) }));
        };
        const auto number = [&](const char* sql) { return db_.integer(sql).value_or(0); };
        whole("claim", number("SELECT count(*) FROM claim"),
            std::max(gathered_.newestClaim, number("SELECT max(id) FROM claim")));
        whole("event", number("SELECT count(*) FROM event"), number("SELECT max(seq) FROM event"));
        whole("checkpoint", number("SELECT count(*) FROM checkpoint"), number("SELECT max(id) FROM checkpoint"));
        whole("incarnation", number("SELECT count(*) FROM incarnation") + number(kStoodFor),
            number("SELECT max(id) FROM incarnation"));
        whole("attempt", number("SELECT count(*) FROM attempt"), number("SELECT max(id) FROM attempt"));
        whole("merge_round", number("SELECT count(*) FROM merge_round"), number("SELECT max(round) FROM merge_round"));
        checkEvents();
        checkReadable();
        checkInheritedTexts();
        checkReferences(db_, gathered_.processes, wrong_);
        checkMerges(db_, gathered_.processes, runEvents_, wrong_);
        checkEpochEvents(db_, runEvents_, wrong_);
    }

    // What no chunk can be and how many no block can have would stop the readers of the history.
    void checkEvents()
    {
        std::unordered_set<std::int64_t> missing;
        std::int64_t before = 0;
        KeptMessages causes(db_);
        Rows rows = db_.query("SELECT chunk, count, incarnation, CASE chunk WHEN 0 THEN cause END FROM event");
        while (rows.next()) {
            (void)eventCountAt(db_, rows, 1, chunkIdOrNoneAt(db_, rows, 0));
            if (rows.integer(0) == 0)
                runEvents_.add(causes.at(rows, 3));
            const std::int64_t process = rows.integer(2);
            if (process == std::exchange(before, process) || process == 0)
                continue;
            if (!gathered_.processes.all.contains(process) && missing.insert(process).second)
                wrong_(FindingKind::History, {},
                    sentence("events are of worker process %1, which the tracker does not have: its row was taken out",
                        { std::to_string(process) }));
        }
    }

    /// What no view of the run could read: a status or a resume would end with it.
    void checkReadable()
    {
        const auto look = [&](const auto& read) {
            if (!read.ok())
                wrong_(FindingKind::History, {}, read.error().message);
        };
        look(reader_.attempts());
        look(reader_.incarnations());
        look(reader_.epochs());
        look(reader_.replicas());
        look(reader_.checkpoints());
        look(reader_.totals());
        look(reader_.activeStretches());
    }

    void checkInheritedTexts()
    {
        if (!keepsInherited(db_))
            return;
        Rows rows = db_.query("SELECT block, columns FROM inherited");
        while (rows.next())
            if (!isRangesText(rows.text(1)))
                wrong_(FindingKind::History, {},
                    sentence(
                        "the chunks of block %1 that the parent run trained are written as nobody writes them: their row was changed",
                        { std::to_string(rows.integer(0)) }));
    }

    // No fault: the weights have these chunks from the run that they came from.
    void nameParents()
    {
        for (const AuditEpoch& one : report_.epochs) {
            if (one.skippedAsParents > 0)
                findings_.find(FindingKind::Parent, {},
                    one.skippedAsParents == 1
                        ? sentence("epoch %1 leaves out 1 chunk that the parent run trained (parent.json names it)",
                              { std::to_string(one.epoch + 1) })
                        : sentence("epoch %1 leaves out %2 chunks that the parent run trained (parent.json names it)",
                              { std::to_string(one.epoch + 1), std::to_string(one.skippedAsParents) }));
            if (one.againAfterParent > 0)
                findings_.find(FindingKind::Parent, {},
                    one.againAfterParent == 1
                        ? sentence(
                              "1 chunk of epoch %1 is in the weights of the parent run too: this run is a new pass (parent_chunks=again)",
                              { std::to_string(one.epoch + 1) })
                        : sentence(
                              "%1 chunks of epoch %2 are in the weights of the parent run too: this run is a new pass (parent_chunks=again)",
                              { std::to_string(one.againAfterParent), std::to_string(one.epoch + 1) }));
        }
    }

    // No fault either: what was rebuilt stands on the manifests of checkpoints, not on the history of claims.
    void nameRepairs()
    {
        for (const Message& cause : runEvents_.rebuilt)
            findings_.find(FindingKind::Rebuilt, {}, sentence("the tracker was damaged and %1", { cause }));
        for (const Message& cause : runEvents_.takenForward)
            findings_.find(
                FindingKind::Rebuilt, {}, sentence("the tracker was older than the checkpoints and %1", { cause }));
    }

    // Rows that a person chose to go on without (bad_files=leave_out): no chunk stands for them.
    void nameLeftOut()
    {
        for (const LeftOutPart& part : leftOutOfTheData(db_, -1))
            findings_.find(FindingKind::Excluded, {}, part.what);
    }

    Database& db_;
    LedgerReader& reader_;
    AuditReport& report_;
    AuditFindings findings_;
    const AuditFault wrong_
        = [this](FindingKind kind, ChunkId chunk, const Message& text) { findings_.wrong(kind, chunk, text); };
    AuditGathered gathered_;
    AuditChunks chunks_;
    AuditWork work_;
    RunEvents runEvents_;
};

void checkIntegrity(Database& db, AuditReport& report)
{
    Rows rows = db.query("PRAGMA integrity_check(20)");
    while (rows.next()) {
        if (rows.text(0) == "ok")
            continue;
        report.integrityOk = false;
        report.integrity += (report.integrity.empty() ? "" : "; ") + lineAt(rows, 0);
    }
    db.failWhereNotRead();
}

} // namespace

Result<AuditReport> audit(const std::filesystem::path& tracker, const AuditWatch& watch, StepsAudit* steps,
    const std::filesystem::path& shownAs)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(tracker, shownAs)); // refuses what this program cannot read
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker, shownAs));
    Database& db = opened;
    db.endWith(watch.stop);
    AuditReport report;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    FURROW_TRY_ASSIGN(auto runId, reader.runId());
    report.runId = runId;
    checkIntegrity(db, report);
    Auditor auditor(db, reader, watch, report);
    auditor.run();
    if (steps)
        *steps = auditor.steps();
    if (Status status = view.commit(); !status.ok()) {
        if (watch.stop.stop_requested())
            return Error { ErrorCode::Cancelled, sentence("the audit was ended before it was done") };
        return status.error().in(sentence("auditing"));
    }
    std::int64_t chunks = 0;
    for (const AuditEpoch& epoch : report.epochs)
        chunks += epoch.known;
    report.notInspected = {
        sentence("wall-clock times, and the time that the run was active"),
        sentence(
            "of a claim its place in the schedule of the rate, its highest gradient norm and the samples that stood out"),
        sentence("the order in which chunks are given out, and who held a chunk last"),
        sentence(
            "of a chunk how often its training was lost or failed; and, unless its prepared block is there, before it is trained the fingerprint of its samples and, where they do not lie end to end, into how many windows and tokens it packs"),
        sentence("of a replica whether it rests, and which of the newest weights it stands on"),
        sentence(
            "what was asked of the run, the plan of its learning rate, and how attempts and worker processes ended"),
        sentence("the history of events: from which state to which chunks moved, when and why; and why claims ended"),
        sentence("of a block how many of its rows repeat others, had bytes that are not UTF-8 or could not be read"),
        sentence("of a round of merging whether more replicas contributed than are listed"),
    };
    report.inspections.push_back({ Evidence::Ledger,
        sentence("the tracker in one moment: the states, claims, parts and checkpoints of its chunks (%1)",
            { std::to_string(chunks) }),
        chunks, 0, 0 });
    return report;
}

} // namespace furrow
