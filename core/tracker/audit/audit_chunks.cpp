#include "core/tracker/audit/audit_chunks.h"

#include "core/base/sentence.h"
#include "core/tracker/audit/audit_gathered.h"
#include "core/tracker/left_out_samples.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/row_counts.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <unordered_map>

namespace furrow {

namespace {

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

// Ranges of a claim do not touch each other.
bool isInside(const WindowRanges& ranges, const WindowRange& part)
{
    return std::any_of(ranges.begin(), ranges.end(),
        [&](const WindowRange& range) { return range.begin <= part.begin && part.end <= range.end; });
}

} // namespace

AuditChunks::AuditChunks(
    Database& db, const AuditWatch& watch, AuditGathered& gathered, AuditFindings& findings, const AuditFault& wrong)
    : db_(db)
    , watch_(watch)
    , gathered_(gathered)
    , findings_(findings)
    , wrong_(wrong)
{
}

void AuditChunks::check()
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
        AuditEpoch& here = gathered_.epochs.of(id);
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
        gathered_.newestClaim = std::max(gathered_.newestClaim, rows.integer(kChunks["claim"]));
        const auto digest = static_cast<std::uint64_t>(rows.integer(kChunks["digest"]));
        ++here.known;
        gathered_.tallies.addChunk(id, state, counts);
        if (rows.integer(kChunks["epoch"]) != placeOf(id).epoch)
            wrong_(FindingKind::Counters, id,
                sentence(
                    "%1 is listed in epoch %2", { toString(id), std::to_string(rows.integer(kChunks["epoch"]) + 1) }));
        const auto inherited = static_cast<Inherited>(rows.integer(kChunks["inherited"]));
        const bool isParents = state == ChunkState::Excluded && inherited == Inherited::Skipped;
        here.againAfterParent += inherited == Inherited::Seen;
        if (inherited != Inherited::Nothing && !isListedAsInherited(id, inherited))
            wrong_(FindingKind::History, id,
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
        } else if (state == ChunkState::Excluded || state == ChunkState::Accepted) {
            here.addKept(samplesTrained(trained, skipped, counts.samples, windows));
        }
        if (state == ChunkState::Poisoned || state == ChunkState::Accepted
            || (state == ChunkState::Excluded && !isParents))
            findings_.find(
                leftOutKind(state), id, withPart(namedCause(id, state), amount(kChunks["covered"]), windows));
    }
    places.end();
}

void AuditChunks::sayHowFar(std::int64_t chunks) const
{
    constexpr std::int64_t kEvery = 4096;
    if (watch_.say && chunks % kEvery == 0)
        watch_.say({ sentence("Reading the tracker"),
            std::min(1.0,
                static_cast<double>(chunks)
                    / static_cast<double>(std::max<std::int64_t>(1, gathered_.epochs.promised()))) });
}

// Of a prepared chunk. One that says that it has nothing to train would be passed over by whoever claims it.
void AuditChunks::checkPacking(ChunkId id, std::int64_t samples, std::int64_t windows, std::int64_t tokens)
{
    const bool isExact = gathered_.windowTokens > 0; // samples lie end to end
    const bool fits = (windows > 0) == (samples > 0)
        && (!isExact
            || (tokens >= samples && windows == (tokens + gathered_.windowTokens - 1) / gathered_.windowTokens));
    if (!fits)
        wrong_(FindingKind::Counters, id,
            sentence("%1: its %2 samples with %3 tokens do not make %4 windows: its row was changed",
                { toString(id), std::to_string(samples), std::to_string(tokens), std::to_string(windows) }));
}

/// Chunks of the first epoch get the mark when their block is planned.
bool AuditChunks::isListedAsInherited(ChunkId id, Inherited mark)
{
    const ChunkPlace place = placeOf(id);
    if (inheritedBlock_ != place.block) {
        inheritedBlock_ = place.block;
        inherited_ = inheritedColumns(db_, place.block);
    }
    const auto column = static_cast<std::int32_t>(place.column);
    return place.epoch == 0 && inherited_.mark == mark && contains(inherited_.columns, { { column, column + 1 } });
}

void AuditChunks::checkState(
    ChunkId id, ChunkState state, bool isParents, std::optional<std::int64_t> holder, AuditEpoch& here)
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
    findings_.holds.states = false;
    findings_.find(FindingKind::Counters, id,
        held ? sentence("nobody holds %1, which is %2", { toString(id), termOf(state) })
             : sentence("somebody holds %1, which is %2", { toString(id), termOf(state) }));
}

// What the parts of a chunk, or whoever holds it, have of the tokens of the run.
void AuditChunks::addTokens(ChunkId id, ChunkState state, const Content& content, const std::vector<SeenPart>& parts)
{
    std::int64_t trained = 0;
    std::int64_t all = 0;
    const bool held = state == ChunkState::Leased || state == ChunkState::Trained;
    for (const SeenPart& part : parts) {
        one_.front() = part.windows;
        const std::int64_t tokens = tokensIn(one_, content.tokens, content.windows, gathered_.windowTokens);
        all += tokens;
        trained += part.skipped ? 0 : tokens;
        if (held)
            gathered_.held[id.value].push_back(part.windows);
    }
    gathered_.tallies.addTokens(trained, held && content.windows > 0 ? content.tokens : all);
}

// Living parts of one chunk, through its claims.
std::vector<AuditChunks::SeenPart> AuditChunks::partsOf(ChunkId chunk)
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
        findings_.holds.lineage = false;
        findings_.find(FindingKind::History, chunk,
            sentence("%1: checkpoint %2 has windows %3 to %4 of claim %5, which that claim did not train",
                { toString(chunk), std::to_string(part.checkpoint), std::to_string(part.windows.begin),
                    std::to_string(part.windows.end), std::to_string(part.claim) }));
    }
    return parts;
}

// Windows trained and skipped in surviving weights, each counted once.
std::pair<std::int64_t, std::int64_t> AuditChunks::checkParts(
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
        if (!gathered_.surviving.contains(part.checkpoint)) {
            findings_.holds.lineage = false;
            findings_.find(FindingKind::Lineage, id,
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
        findings_.holds.lineage = false;
        findings_.find(FindingKind::Duplicated, id, twice);
    }
    const bool complete = trained + skipped == windows;
    if (state == ChunkState::Committed && !complete) {
        ++here.missing;
        findings_.holds.lineage = false;
        findings_.find(FindingKind::Missing, id,
            sentence(
                "%1 counts as committed, but only %2 of %3 windows are in surviving checkpoints; likely cause: a checkpoint row was removed or changed from outside",
                { toString(id), std::to_string(trained + skipped), std::to_string(windows) }));
    }
    if (state == ChunkState::Free && complete && windows > 0) { // who claims it has nothing to train, for ever
        findings_.holds.states = false;
        findings_.find(FindingKind::Counters, id,
            sentence("%1 is free, and surviving checkpoints have all of its windows", { toString(id) }));
    }
    if (twice.empty() && covered != trained + skipped) {
        findings_.holds.states = false;
        findings_.find(FindingKind::Counters, id,
            sentence("%1: the ledger counts %2 covered windows, its parts cover %3",
                { toString(id), std::to_string(covered), std::to_string(trained + skipped) }));
    }
    return { trained, skipped };
}

void AuditChunks::addRows(ChunkId id, const RowCounts& counts, std::int64_t trained, std::int64_t skipped,
    std::int64_t windows, AuditEpoch& here)
{
    // Windows left out by name take their share of the samples with them.
    const std::int64_t lost = samplesOfWindows(skipped, counts.samples, windows);
    add(here.rows, counts);
    here.rows.samples -= lost;
    here.samplesSkipped += lost;
    if (addsUp(counts) && (trained + skipped > 0 || counts.samples == 0 || windows == 0))
        return;
    here.rowsAddUp = false;
    findings_.holds.rows = false;
    findings_.find(FindingKind::Rows, id,
        sentence("%1: its samples do not add up to its %2 rows", { toString(id), std::to_string(counts.rows) }));
}

std::string AuditChunks::namedCause(ChunkId id, ChunkState state)
{
    const auto named = std::lower_bound(gathered_.named.begin(), gathered_.named.end(), id,
        [](const NamedChunk& one, ChunkId wanted) { return one.chunk < wanted; });
    const Message cause = named != gathered_.named.end() && named->chunk == id ? named->cause : Message();
    const ChunkPlace at = placeOf(id);
    const std::vector<Argument> values { std::to_string(at.column), std::to_string(at.block),
        std::to_string(at.epoch + 1), termOf(state), cause };
    return cause.empty() ? sentence("chunk %1 of block %2 (epoch %3) is %4", values)
                         : sentence("chunk %1 of block %2 (epoch %3) is %4: %5", values);
}

} // namespace furrow
