#include "core/tracker/audit/audit.h"

#include "core/tracker/kept_messages.h"
#include "core/base/sentence.h"
#include "core/tracker/audit/audit_claims.h"
#include "core/tracker/audit/audit_lineage.h"
#include "core/tracker/audit/audit_steps.h"
#include "core/tracker/block_chunks.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

// How this works: passes, each in the order of an index. Chunks give the states, rows and the windows that surviving
// weights hold, parts what checkpoints took of each claim, claims the overlaps, their own figures and the work lost,
// events what happened to the run. Nothing is taken from the ledger's counters, except to compare them (audit_tallies).

namespace furrow {

namespace {

constexpr std::size_t kMaxLostFindings = 50;

struct SeenPart {
    WindowRange windows;
    std::int64_t claim = 0;
    std::int64_t checkpoint = 0;
    bool skipped = false;
};

/// Of a chunk that is in no weights because somebody said so.
FindingKind leftOutKind(ChunkState state)
{
    return state == ChunkState::Poisoned ? FindingKind::Poisoned
        : state == ChunkState::Accepted  ? FindingKind::Accepted
                                         : FindingKind::Excluded;
}

/// It was in training before: what a checkpoint had of it by then stays in the weights.
Message withPart(const Message& cause, std::int64_t covered, std::int64_t windows)
{
    return covered == 0 ? cause
                        : sentence("%1; %2 of its %3 windows are in the weights",
                              { cause, std::to_string(covered), std::to_string(windows) });
}

/// Chunks come by id. Those of a block are opened together, so each epoch that has one of them has all, from 0 on.
class ChunkPlaces {
public:
    ChunkPlaces(Database& db, const AuditFault& wrong)
        : db_(db)
        , wrong_(wrong)
    {
    }

    void look(ChunkId id)
    {
        const ChunkPlace place = placeOf(id);
        if (place.epoch != at_.epoch || place.block != at_.block) {
            end();
            at_ = place;
            seen_ = 0;
            chunks_ = db_.integer("SELECT chunks FROM block WHERE block=?", place.block).value_or(0);
        }
        if (place.column >= chunks_)
            wrong_(FindingKind::Counters, id,
                chunks_ == 1
                    ? sentence("%1: its block has 1 chunk; the number of the chunk or the row of the block was changed",
                          { toString(id) })
                    : sentence(
                          "%1: its block has %2 chunks; the number of the chunk or the row of the block was changed",
                          { toString(id), std::to_string(chunks_) }));
        else
            ++seen_;
    }

    void end()
    {
        if (seen_ < chunks_)
            wrong_(FindingKind::Counters, {},
                sentence(
                    "epoch %1 has %2 of the %3 chunks of block %4: rows were taken out, or have the number of another chunk",
                    { std::to_string(at_.epoch + 1), std::to_string(seen_), std::to_string(chunks_),
                        std::to_string(at_.block) }));
    }

private:
    Database& db_;
    const AuditFault& wrong_;
    ChunkPlace at_ { -1, -1, 0 };
    std::int64_t chunks_ = 0; // of the block at_
    std::int64_t seen_ = 0;
};

class Auditor {
public:
    Auditor(Database& db, LedgerReader& reader, const AuditWatch& watch, AuditReport& report)
        : db_(db)
        , reader_(reader)
        , watch_(watch)
        , report_(report)
    {
    }

    void run()
    {
        named_ = namedChunks(db_);
        readEpochs();
        checkNamedChunks(db_, named_, wrong_); // before what is named of them and no fault
        surviving_ = checkLineage(db_, wrong_);
        checkChunks();
        parts_.read(db_, tallies_, wrong_);
        checkClaims();
        checkHistory();
        tallies_.compare(db_, wrong_);
        checkShortcuts();
        closeEpochs();
        nameParents();
        nameRepairs();
        nameLeftOut();
        nameLostWork();
        report_.invariants = {
            { "I1", "every chunk is in exactly one state, and the counters agree with the chunks", statesHold_ },
            { "I2", "every committed chunk is in exactly one surviving lineage, window by window", lineageHolds_ },
            { "I3", "samples trained, skipped, filtered, failed, held out and duplicate add up to the rows",
                rowsHold_ },
            { "I4", "an epoch is closed only when nothing is left to train and everything else is named",
                closingHolds_ },
            { "I5",
                "what the ledger says in two places it says alike: claims, parts, blocks, rounds of merging, events",
                recordsHold_ },
        };
    }

    StepsAudit steps() { return checkSteps(db_, processes_, parts_); }

private:
    /// A chunk of an epoch that never began is damage, and counted nowhere.
    AuditEpoch& epochOf(ChunkId chunk)
    {
        const std::int64_t number = placeOf(chunk).epoch;
        if (number < std::ssize(report_.epochs))
            return report_.epochs[static_cast<std::size_t>(number)];
        statesHold_ = false;
        if (strayEpochs_.insert(number).second)
            find(FindingKind::Counters, {},
                sentence("there are chunks of epoch %1, which never began", { std::to_string(number + 1) }));
        return nowhere_;
    }

    void find(FindingKind kind, ChunkId chunk, const Message& text)
    {
        if (report_.findings.size() >= kMaxAuditFindings) {
            ++report_.findingsLeftOut;
            return;
        }
        AuditFinding finding { kind, chunk, text, {} };
        if (chunk.value != 0) {
            if (auto claims = reader_.claimsOf(chunk); claims.ok())
                finding.claims = std::move(claims).value();
        }
        report_.findings.push_back(std::move(finding));
    }

    /// What the parts of the audit in other files find.
    void wrong(FindingKind kind, ChunkId chunk, const Message& text)
    {
        (kind == FindingKind::Counters         ? statesHold_
                : kind == FindingKind::Lineage ? lineageHolds_
                                               : recordsHold_)
            = false;
        find(kind, chunk, text);
    }

    void sayHowFar(std::int64_t chunks) const
    {
        constexpr std::int64_t kEvery = 4096;
        if (watch_.say && chunks % kEvery == 0)
            watch_.say({ sentence("Reading the tracker"),
                std::min(
                    1.0, static_cast<double>(chunks) / static_cast<double>(std::max<std::int64_t>(1, promised_))) });
    }

    void readEpochs()
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

    // Histories only grow: ids follow one another, so a row that was taken out leaves a gap. Only a process that a
    // repair wrote down stands for those before it too, of which the history was lost.
    void checkHistory()
    {
        constexpr const char* kStoodFor
            = "SELECT sum(id-previous-1) FROM (SELECT id, pid=0 AND boot_id='' AS rebuilt, lag(id, 1, 0) OVER (ORDER BY id) AS previous FROM incarnation) WHERE rebuilt";
        const auto whole = [&](const char* name, std::int64_t rows, std::int64_t newest) {
            if (rows == newest)
                return;
            lineageHolds_ = false;
            find(FindingKind::History, {},
                sentence("the table %1 has %2 rows and ids up to %3: rows were taken out of the history",
                    { name, std::to_string(rows), std::to_string(newest) }));
        };
        const auto number = [&](const char* sql) { return db_.integer(sql).value_or(0); };
        whole(
            "claim", number("SELECT count(*) FROM claim"), std::max(newestClaim_, number("SELECT max(id) FROM claim")));
        whole("event", number("SELECT count(*) FROM event"), number("SELECT max(seq) FROM event"));
        whole("checkpoint", number("SELECT count(*) FROM checkpoint"), number("SELECT max(id) FROM checkpoint"));
        whole("incarnation", number("SELECT count(*) FROM incarnation") + number(kStoodFor),
            number("SELECT max(id) FROM incarnation"));
        whole("attempt", number("SELECT count(*) FROM attempt"), number("SELECT max(id) FROM attempt"));
        whole("merge_round", number("SELECT count(*) FROM merge_round"), number("SELECT max(round) FROM merge_round"));
        checkEvents();
        checkReadable();
        checkInheritedTexts();
        checkReferences(db_, processes_, wrong_);
        checkMerges(db_, processes_, runEvents_, wrong_);
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
            if (!processes_.all.contains(process) && missing.insert(process).second)
                wrong(FindingKind::History, {},
                    sentence("events are of worker process %1, which the tracker does not have: its row was taken out",
                        { std::to_string(process) }));
        }
    }

    /// What no view of the run could read: a status or a resume would end with it.
    void checkReadable()
    {
        const auto look = [&](const auto& read) {
            if (!read.ok())
                wrong(FindingKind::History, {}, read.error().message);
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
                wrong(FindingKind::History, {},
                    sentence(
                        "the chunks of block %1 that the parent run trained are written as nobody writes them: their row was changed",
                        { std::to_string(rows.integer(0)) }));
    }

    // Ranges of a claim do not touch each other.
    static bool isInside(const WindowRanges& ranges, const WindowRange& part)
    {
        return std::any_of(ranges.begin(), ranges.end(),
            [&](const WindowRange& range) { return range.begin <= part.begin && part.end <= range.end; });
    }

    // Living parts of one chunk, through its claims.
    std::vector<SeenPart> partsOf(ChunkId chunk)
    {
        static constexpr Select kParts {
            "SELECT p.first, p.past, p.claim, p.checkpoint, p.skipped, c.outcome, c.done, c.skipped AS left_out"
            " FROM claim c JOIN part p ON p.claim=c.id WHERE c.chunk=? AND p.alive=1 ORDER BY p.first"
        };
        std::vector<SeenPart> parts;
        Rows rows = db_.query(kParts.sql, chunk);
        while (rows.next()) {
            parts.push_back({ windowsAt(db_, rows, kParts["first"]), rows.integer(kParts["claim"]),
                rows.integer(kParts["checkpoint"]), rows.integer(kParts["skipped"]) != 0 });
            const SeenPart& part = parts.back();
            if (static_cast<ClaimOutcome>(rows.integer(kParts["outcome"])) != ClaimOutcome::Trained
                || isInside(decodeRanges(rows.text(part.skipped ? kParts["left_out"] : kParts["done"])), part.windows))
                continue;
            lineageHolds_ = false;
            find(FindingKind::History, chunk,
                sentence("%1: checkpoint %2 has windows %3 to %4 of claim %5, which that claim did not train",
                    { toString(chunk), std::to_string(part.checkpoint), std::to_string(part.windows.begin),
                        std::to_string(part.windows.end), std::to_string(part.claim) }));
        }
        return parts;
    }

    void checkChunks()
    {
#define FURROW_CHUNKS(inherited)                                                                                        \
    "SELECT id, state, rows, samples, filtered, failed, held_out, duplicates, windows, digest, covered, holder, claim," \
    " tokens, epoch, " inherited " AS inherited FROM chunk ORDER BY id"
        static constexpr Select kChunks { FURROW_CHUNKS("inherited") };
        static constexpr Select kChunksOfOld { FURROW_CHUNKS("0") };
#undef FURROW_CHUNKS
        Rows rows = db_.query(keepsInherited(db_) ? kChunks.sql : kChunksOfOld.sql);
        std::unordered_map<std::uint64_t, std::int64_t> digests; // of one epoch
        std::int64_t digestEpoch = -1;
        std::int64_t seen = 0;
        ChunkPlaces places(db_, wrong_);
        while (rows.next()) {
            sayHowFar(seen++);
            const ChunkId id = chunkIdAt(db_, rows, kChunks["id"]);
            const auto state = static_cast<ChunkState>(boundedAt(db_, rows, kChunks["state"], kStateBounds));
            AuditEpoch& here = epochOf(id);
            if (digestEpoch != here.epoch) {
                digests.clear();
                digestEpoch = here.epoch;
            }
            const auto amount = [&](int column) { return boundedAt(db_, rows, column, kAmountBounds); };
            const RowCounts counts { amount(kChunks["rows"]), amount(kChunks["samples"]), amount(kChunks["filtered"]),
                amount(kChunks["failed"]), amount(kChunks["held_out"]), amount(kChunks["duplicates"]) };
            const std::int64_t windows
                = boundedAt(db_, rows, kChunks["windows"], kWindowBounds); // 0 when they are not known
            places.look(id);
            if (!rows.isNull(kChunks["windows"]))
                checkPacking(id, counts.samples, windows, amount(kChunks["tokens"]));
            newestClaim_ = std::max(newestClaim_, rows.integer(kChunks["claim"]));
            const auto digest = static_cast<std::uint64_t>(rows.integer(kChunks["digest"]));
            ++here.known;
            tallies_.addChunk(id, state, counts);
            if (rows.integer(kChunks["epoch"]) != placeOf(id).epoch)
                wrong(FindingKind::Counters, id,
                    sentence("%1 is listed in epoch %2",
                        { toString(id), std::to_string(rows.integer(kChunks["epoch"]) + 1) }));
            const auto inherited = static_cast<Inherited>(rows.integer(kChunks["inherited"]));
            const bool isParents = state == ChunkState::Excluded && inherited == Inherited::Skipped;
            here.againAfterParent += inherited == Inherited::Seen;
            if (inherited != Inherited::Nothing && !isListedAsInherited(id, inherited))
                wrong(FindingKind::History, id,
                    sentence(
                        "%1 is marked as trained by the parent run, which the list of what the parent trained does not say",
                        { toString(id) }));
            checkState(id, state, isParents, rows.optionalInteger(kChunks["holder"]), here);
            const auto [trained, skipped]
                = checkParts(id, state, { windows, amount(kChunks["tokens"]), amount(kChunks["covered"]) }, here);
            if (state == ChunkState::Committed) {
                here.digest += digest;
                if (digest != 0 && ++digests[digest] > 1)
                    ++here.contentDuplicates;
                addRows(id, counts, trained, skipped, windows, here);
            }
            if (state == ChunkState::Poisoned || state == ChunkState::Accepted
                || (state == ChunkState::Excluded && !isParents))
                find(leftOutKind(state), id, withPart(namedCause(id, state), amount(kChunks["covered"]), windows));
        }
        places.end();
    }

    // Of a prepared chunk. One that says that it has nothing to train would be passed over by whoever claims it.
    void checkPacking(ChunkId id, std::int64_t samples, std::int64_t windows, std::int64_t tokens)
    {
        const bool isExact = windowTokens_ > 0; // samples lie end to end
        const bool fits = (windows > 0) == (samples > 0)
            && (!isExact || (tokens >= samples && windows == (tokens + windowTokens_ - 1) / windowTokens_));
        if (!fits)
            wrong(FindingKind::Counters, id,
                sentence("%1: its %2 samples with %3 tokens do not make %4 windows: its row was changed",
                    { toString(id), std::to_string(samples), std::to_string(tokens), std::to_string(windows) }));
    }

    /// Chunks of the first epoch get the mark when their block is planned.
    bool isListedAsInherited(ChunkId id, Inherited mark)
    {
        const ChunkPlace place = placeOf(id);
        if (inheritedBlock_ != place.block) {
            inheritedBlock_ = place.block;
            inherited_ = inheritedColumns(db_, place.block);
        }
        const auto column = static_cast<std::int32_t>(place.column);
        return place.epoch == 0 && inherited_.mark == mark && contains(inherited_.columns, { { column, column + 1 } });
    }

    void checkState(ChunkId id, ChunkState state, bool isParents, std::optional<std::int64_t> holder, AuditEpoch& here)
    {
        switch (state) {
        case ChunkState::Committed: ++here.committed; break;
        case ChunkState::Excluded: ++(isParents ? here.skippedAsParents : here.excluded); break;
        case ChunkState::Poisoned: ++here.poisoned; break;
        case ChunkState::Accepted: ++here.accepted; break;
        default: ++here.remaining;
        }
        const bool held = state == ChunkState::Leased || state == ChunkState::Trained;
        if (held == holder.has_value())
            return;
        statesHold_ = false;
        find(FindingKind::Counters, id,
            held ? sentence("nobody holds %1, which is %2", { toString(id), termOf(state) })
                 : sentence("somebody holds %1, which is %2", { toString(id), termOf(state) }));
    }

    /// Of one chunk.
    struct Content {
        std::int64_t windows = 0;
        std::int64_t tokens = 0;
        std::int64_t covered = 0; // windows that are in living parts by its row
    };

    // What the parts of a chunk, or whoever holds it, have of the tokens of the run.
    void addTokens(ChunkId id, ChunkState state, const Content& content, const std::vector<SeenPart>& parts)
    {
        std::int64_t trained = 0;
        std::int64_t all = 0;
        const bool held = state == ChunkState::Leased || state == ChunkState::Trained;
        for (const SeenPart& part : parts) {
            one_.front() = part.windows;
            const std::int64_t tokens = tokensIn(one_, content.tokens, content.windows, windowTokens_);
            all += tokens;
            trained += part.skipped ? 0 : tokens;
            if (held)
                held_[id.value].push_back(part.windows);
        }
        tallies_.addTokens(trained, held && content.windows > 0 ? content.tokens : all);
    }

    // Windows trained and skipped in surviving weights, each counted once.
    std::pair<std::int64_t, std::int64_t> checkParts(
        ChunkId id, ChunkState state, const Content& content, AuditEpoch& here)
    {
        const auto parts = partsOf(id);
        addTokens(id, state, content, parts);
        const std::int64_t windows = content.windows;
        const std::int64_t covered = content.covered;
        std::int64_t trained = 0;
        std::int64_t skipped = 0;
        std::int64_t reached = 0;
        std::string twice;
        for (const SeenPart& part : parts) {
            if (!surviving_.contains(part.checkpoint)) {
                lineageHolds_ = false;
                find(FindingKind::Lineage, id,
                    sentence("%1 is counted in checkpoint %2, which no surviving weights were made from",
                        { toString(id), std::to_string(part.checkpoint) }));
            }
            if (part.windows.begin < reached)
                twice = sentence(
                    "%1: windows %2 to %3 are in the surviving weights twice (the second time through checkpoint %4); likely cause: the ledger was changed from outside, or restored from an older copy while a worker went on",
                    { toString(id), std::to_string(part.windows.begin),
                        std::to_string(std::min<std::int64_t>(reached, part.windows.end)),
                        std::to_string(part.checkpoint) });
            const std::int64_t fresh
                = std::max<std::int64_t>(0, part.windows.end - std::max<std::int64_t>(reached, part.windows.begin));
            (part.skipped ? skipped : trained) += fresh;
            reached = std::max<std::int64_t>(reached, part.windows.end);
        }
        if (!twice.empty()) {
            ++here.duplicated;
            lineageHolds_ = false;
            find(FindingKind::Duplicated, id, twice);
        }
        const bool complete = trained + skipped == windows;
        if (state == ChunkState::Committed && !complete) {
            ++here.missing;
            lineageHolds_ = false;
            find(FindingKind::Missing, id,
                sentence(
                    "%1 counts as committed, but only %2 of %3 windows are in surviving checkpoints; likely cause: a checkpoint row was removed or changed from outside",
                    { toString(id), std::to_string(trained + skipped), std::to_string(windows) }));
        }
        if (state == ChunkState::Free && complete && windows > 0) { // who claims it has nothing to train, for ever
            statesHold_ = false;
            find(FindingKind::Counters, id,
                sentence("%1 is free, and surviving checkpoints have all of its windows", { toString(id) }));
        }
        if (twice.empty() && covered != trained + skipped) {
            statesHold_ = false;
            find(FindingKind::Counters, id,
                sentence("%1: the ledger counts %2 covered windows, its parts cover %3",
                    { toString(id), std::to_string(covered), std::to_string(trained + skipped) }));
        }
        return { trained, skipped };
    }

    void addRows(ChunkId id, const RowCounts& counts, std::int64_t trained, std::int64_t skipped, std::int64_t windows,
        AuditEpoch& here)
    {
        // Windows left out by name take their share of the samples with them.
        const std::int64_t lost = windows > 0 ? counts.samples * skipped / windows : 0;
        here.rows.rows += counts.rows;
        here.rows.samples += counts.samples - lost;
        here.samplesSkipped += lost;
        here.rows.filtered += counts.filtered;
        here.rows.failed += counts.failed;
        here.rows.heldOut += counts.heldOut;
        here.rows.duplicates += counts.duplicates;
        const bool addsUp
            = counts.samples + counts.filtered + counts.failed + counts.heldOut + counts.duplicates == counts.rows
            && (trained + skipped > 0 || counts.samples == 0 || windows == 0);
        if (addsUp)
            return;
        here.rowsAddUp = false;
        rowsHold_ = false;
        find(FindingKind::Rows, id,
            sentence("%1: its samples do not add up to its %2 rows", { toString(id), std::to_string(counts.rows) }));
    }

    std::string namedCause(ChunkId id, ChunkState state)
    {
        const auto named = std::lower_bound(
            named_.begin(), named_.end(), id, [](const NamedChunk& one, ChunkId wanted) { return one.chunk < wanted; });
        const Message cause = named != named_.end() && named->chunk == id ? named->cause : Message();
        const ChunkPlace at = placeOf(id);
        const std::vector<Argument> values { std::to_string(at.column), std::to_string(at.block),
            std::to_string(at.epoch + 1), termOf(state), cause };
        return cause.empty() ? sentence("chunk %1 of block %2 (epoch %3) is %4", values)
                             : sentence("chunk %1 of block %2 (epoch %3) is %4: %5", values);
    }

    // Of a claim that died, what a checkpoint has of it is not lost; its steps have nearly as many tokens each.
    static std::int64_t tokensLost(std::int64_t tokens, std::int64_t steps, std::int64_t kept)
    {
        const double share = steps > 0 ? static_cast<double>(std::min(kept, steps)) / static_cast<double>(steps) : 0;
        return tokens - std::llround(static_cast<double>(tokens) * share);
    }

    static constexpr Select kClaims {
        "SELECT c.id, c.chunk, c.opened_seq, c.closed_seq, c.outcome, c.tokens, k.holder, k.claim AS held_claim, c.incarnation,"
        " c.cause, c.started_wall, c.steps, c.first_step, c.last_step, c.samples, c.loss_sum, c.ranges, c.done, c.skipped,"
        " k.windows AS chunk_windows, k.samples AS chunk_samples, k.tokens AS chunk_tokens, k.times_trained, k.mean_loss,"
        " c.partly, e.to_state AS ended_in FROM claim c INDEXED BY claim_chunk JOIN chunk k ON k.id=c.chunk"
        " LEFT JOIN event e ON e.seq=c.closed_seq AND e.chunk<=c.chunk AND c.chunk<e.chunk+e.count ORDER BY c.chunk, c.id"
    };

    // Claims of each chunk in their order: no lease may begin before the one before ended.
    void checkClaims()
    {
        struct Before {
            ChunkId chunk;
            std::int64_t claim = 0;
            std::int64_t closed = 0; // 0: open
        } before;
        AuditClaims figures(processes_, parts_, tallies_, windowTokens_, wrong_);
        KeptMessages causes(db_);
        Rows rows = db_.query(kClaims.sql);
        while (rows.next()) {
            const bool endsAsTold = lookAtFigures(rows, figures);
            const ChunkId chunk = chunkIdAt(db_, rows, kClaims["chunk"]);
            AuditEpoch& here = epochOf(chunk);
            const auto outcome = static_cast<ClaimOutcome>(rows.integer(kClaims["outcome"]));
            const bool open = outcome == ClaimOutcome::Open;
            if (before.chunk == chunk && (before.closed == 0 || rows.integer(kClaims["opened_seq"]) < before.closed)) {
                ++here.overlappingClaims;
                lineageHolds_ = false;
                find(FindingKind::OverlappingClaims, chunk,
                    sentence(
                        "%1: claim %2 began before claim %3 had ended; likely cause: the ledger was changed from outside, or two copies of it were in use",
                        { toString(chunk), std::to_string(rows.integer(kClaims["id"])),
                            std::to_string(before.claim) }));
            }
            before = { chunk, rows.integer(kClaims["id"]),
                open ? 0 : std::max<std::int64_t>(rows.integer(kClaims["closed_seq"]), 1) };
            const bool lost = outcome == ClaimOutcome::Lost
                || (outcome == ClaimOutcome::Trained && !parts_.of(rows.integer(kClaims["id"])).alive
                    && parts_.of(rows.integer(kClaims["id"])).dead);
            if (lost && endsAsTold) {
                ++here.chunksLost;
                here.tokensLost += tokensLost(boundedAt(db_, rows, kClaims["tokens"], kAmountBounds),
                    boundedAt(db_, rows, kClaims["steps"], kAmountBounds),
                    parts_.of(rows.integer(kClaims["id"])).aliveSteps);
                addLost(chunk, causes.at(rows, kClaims["cause"]));
            }
            if (open
                && (rows.optionalInteger(kClaims["holder"]) != rows.integer(kClaims["incarnation"])
                    || rows.optionalInteger(kClaims["held_claim"]) != rows.integer(kClaims["id"]))) {
                statesHold_ = false;
                find(FindingKind::Counters, chunk,
                    sentence("%1: claim %2 is open but does not hold the chunk",
                        { toString(chunk), std::to_string(rows.integer(kClaims["id"])) }));
            }
        }
        figures.end();
        parts_.nameStrays(wrong_);
    }

    // Of a row of kClaims. Returns whether the claim ended as its row says.
    bool lookAtFigures(const Rows& rows, AuditClaims& figures)
    {
        const auto amount = [&](int column) { return boundedAt(db_, rows, column, kAmountBounds); };
        if (!isRangesText(rows.text(kClaims["ranges"])) || !isRangesText(rows.text(kClaims["done"]))
            || !isRangesText(rows.text(kClaims["skipped"])))
            wrong(FindingKind::Claims, chunkIdAt(db_, rows, kClaims["chunk"]),
                sentence(
                    "%1: the windows that claim %2 had, trained or left out are written as nobody writes them: its row was changed",
                    { toString(chunkIdAt(db_, rows, kClaims["chunk"])), std::to_string(rows.integer(kClaims["id"])) }));
        const AuditedClaim claim { rows.integer(kClaims["id"]), chunkIdAt(db_, rows, kClaims["chunk"]),
            rows.integer(kClaims["incarnation"]), static_cast<ClaimOutcome>(rows.integer(kClaims["outcome"])),
            decodeRanges(rows.text(kClaims["ranges"])), decodeRanges(rows.text(kClaims["done"])),
            decodeRanges(rows.text(kClaims["skipped"])), rows.integer(kClaims["started_wall"]) != 0,
            rows.integer(kClaims["started_wall"]) != 0
                || rows.integer(kClaims["outcome"]) == static_cast<int>(ClaimOutcome::Trained),
            amount(kClaims["steps"]), amount(kClaims["first_step"]), amount(kClaims["last_step"]),
            amount(kClaims["samples"]), amount(kClaims["tokens"]), rows.real(kClaims["loss_sum"]),
            rows.integer(kClaims["partly"]) != 0, rows.optionalInteger(kClaims["ended_in"]) };
        const AuditedChunk chunk { claim.chunk, boundedAt(db_, rows, kClaims["chunk_windows"], kWindowBounds),
            amount(kClaims["chunk_samples"]), amount(kClaims["chunk_tokens"]), rows.integer(kClaims["times_trained"]),
            rows.optionalInteger(kClaims["held_claim"]), rows.optionalInteger(kClaims["holder"]),
            rows.isNull(kClaims["mean_loss"]) ? std::nullopt : std::optional(rows.real(kClaims["mean_loss"])) };
        if (processes_.rebuilt.contains(claim.incarnation) && !claim.skipped.empty())
            tallies_.forgetClaimedTokens();
        const auto covered = chunk.holder ? held_.find(claim.chunk.value) : held_.end();
        return figures.look(claim, chunk, covered == held_.end() ? WindowRanges {} : covered->second);
    }

    // No fault: the work died with its weights and was, or will be, done again. Named last, and not without end.
    void nameLostWork()
    {
        for (const LostWork& one : lost_) {
            Message causes;
            for (const Message& cause : one.causes)
                causes += causes.empty() ? cause : "; " + cause;
            find(FindingKind::Lost, one.chunk,
                one.times == 1
                    ? sentence("%1 was begun and died before a checkpoint (%2); it was given out again",
                          { toString(one.chunk), causes })
                    : sentence("%1 was begun and died before a checkpoint %2 times (%3); it was given out again",
                          { toString(one.chunk), std::to_string(one.times), causes }));
        }
    }

    // Claims come chunk by chunk: one finding has all of a chunk, and each cause once.
    void addLost(ChunkId chunk, const Message& cause)
    {
        if (lost_.empty() || lost_.back().chunk != chunk) {
            if (lost_.size() < kMaxLostFindings)
                lost_.push_back({ chunk, 1, { cause } });
            return;
        }
        LostWork& before = lost_.back();
        ++before.times;
        if (std::ranges::find(before.causes, cause) == before.causes.end())
            before.causes.push_back(cause);
    }

    // No fault: the weights have these chunks from the run that they came from.
    void nameParents()
    {
        for (const AuditEpoch& one : report_.epochs) {
            if (one.skippedAsParents > 0)
                find(FindingKind::Parent, {},
                    one.skippedAsParents == 1
                        ? sentence("epoch %1 leaves out 1 chunk that the parent run trained (parent.json names it)",
                              { std::to_string(one.epoch + 1) })
                        : sentence("epoch %1 leaves out %2 chunks that the parent run trained (parent.json names it)",
                              { std::to_string(one.epoch + 1), std::to_string(one.skippedAsParents) }));
            if (one.againAfterParent > 0)
                find(FindingKind::Parent, {},
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
            find(FindingKind::Rebuilt, {}, sentence("the tracker was damaged and %1", { cause }));
        for (const Message& cause : runEvents_.takenForward)
            find(FindingKind::Rebuilt, {}, sentence("the tracker was older than the checkpoints and %1", { cause }));
    }

    // Rows that a person chose to go on without (bad_files=leave_out): no chunk stands for them.
    void nameLeftOut()
    {
        for (const LeftOutPart& part : leftOutOfTheData(db_, -1))
            find(FindingKind::Excluded, {}, part.what);
    }

    // What only saves a search must agree with what it is a shortcut to, else a chunk would be overlooked.
    void checkShortcuts()
    {
        if (!keepsClaimSpans(db_))
            return;
        {
            Rows rows = db_.query("SELECT epoch, block FROM counts WHERE wanted<>(n1+n2>0)");
            while (rows.next()) {
                statesHold_ = false;
                find(FindingKind::Counters, {},
                    sentence("block %1 (epoch %2) is not marked as its chunks say",
                        { std::to_string(rows.integer(1)), std::to_string(rows.integer(0) + 1) }));
            }
        }
        {
            Rows rows = db_.query(
                "SELECT k.id, k.holder FROM chunk k JOIN claim c ON c.id=k.claim JOIN incarnation i ON i.id=k.holder WHERE c.id<i.first_held");
            while (rows.next()) {
                statesHold_ = false;
                find(FindingKind::Counters, { rows.integer(0) },
                    sentence("%1 is held by worker process %2, which would overlook it",
                        { toString(ChunkId { rows.integer(0) }), std::to_string(rows.integer(1)) }));
            }
        }
    }

    void closeEpochs()
    {
        const std::int64_t promised = db_.integer("SELECT sum(chunks) FROM block").value_or(0);
        const std::int64_t blocks = db_.integer("SELECT count(*) FROM block").value_or(0);
        const bool proven = blockCount_.has_value() && *blockCount_ == blocks;
        if (blockCount_ && !proven) {
            statesHold_ = false;
            find(FindingKind::Counters, {},
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
                wrong(FindingKind::Counters, {},
                    sentence(
                        "epoch %1 is marked as one that is still being opened, which only the newest can be, and never the first: its row was changed",
                        { std::to_string(one.epoch + 1) }));
            if (fullyOpened && one.known < promised) {
                one.missing += promised - one.known;
                statesHold_ = false;
                find(FindingKind::Missing, {},
                    sentence("epoch %1 has %2 chunks, its blocks promise %3",
                        { std::to_string(one.epoch + 1), std::to_string(one.known), std::to_string(promised) }));
            }
            one.complete = proven && fullyOpened && one.remaining == 0 && one.poisoned == 0 && one.missing == 0
                && one.duplicated == 0;
            if (closed_[i] && (!proven || one.remaining > 0 || one.poisoned > 0)) {
                closingHolds_ = false;
                find(FindingKind::Missing, {},
                    one.remaining + one.poisoned == 1
                        ? sentence("epoch %1 is closed although 1 chunk is left", { std::to_string(one.epoch + 1) })
                        : sentence("epoch %1 is closed although %2 chunks are left",
                              { std::to_string(one.epoch + 1), std::to_string(one.remaining + one.poisoned) }));
            }
        }
    }

    Database& db_;
    LedgerReader& reader_;
    const AuditWatch& watch_;
    AuditReport& report_;
    std::optional<std::int64_t> blockCount_;
    std::int64_t promised_ = 0; // chunks in all epochs, for the progress alone
    std::vector<bool> closed_;
    AuditEpoch nowhere_;
    std::set<std::int64_t> strayEpochs_;
    struct LostWork {
        ChunkId chunk;
        int times = 0;
        std::vector<Message> causes;
    };
    std::vector<LostWork> lost_;
    std::vector<NamedChunk> named_; // by id
    std::set<std::int64_t> surviving_;
    std::int64_t newestClaim_ = 0; // that a chunk speaks of
    const KnownProcesses processes_ = knownProcesses(db_);
    const std::int64_t windowTokens_ = windowTokensOf(db_);
    const AuditFault wrong_
        = [this](FindingKind kind, ChunkId chunk, const Message& text) { wrong(kind, chunk, text); };
    AuditTallies tallies_;
    AuditParts parts_;
    RunEvents runEvents_;
    WindowRanges one_ = WindowRanges(1); // spares making one for each part
    std::unordered_map<std::int64_t, WindowRanges> held_; // by chunk that somebody holds: its windows in living parts
    std::int64_t inheritedBlock_ = -1; ///< that of `inherited_`
    InheritedColumns inherited_;
    bool statesHold_ = true;
    bool lineageHolds_ = true;
    bool rowsHold_ = true;
    bool closingHolds_ = true;
    bool recordsHold_ = true;
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
            "of a chunk how often its training was lost or failed, and, before it is trained, the fingerprint of its samples; where samples do not lie end to end also into how many windows and tokens it packs, unless its prepared block is there"),
        sentence("of a replica whether it rests, and which of the newest weights it stands on"),
        sentence(
            "what was asked of the run, the plan of its learning rate, and how attempts and worker processes ended"),
        sentence("the history of events: from which state to which chunks moved, when and why; and why claims ended"),
        sentence("of a block how many of its rows repeat others, had bytes that are not UTF-8 or could not be read"),
        sentence("of a round of merging whether more replicas contributed than are listed"),
    };
    report.inspections.push_back({ Evidence::Ledger,
        sentence("the tracker in one moment: the states, claims, parts and checkpoints of %1 chunks",
            { std::to_string(chunks) }),
        chunks, 0, 0 });
    return report;
}

} // namespace furrow
