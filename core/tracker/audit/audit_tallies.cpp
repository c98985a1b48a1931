#include "core/tracker/audit/audit_tallies.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/row_counts.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>

namespace furrow {

namespace {

/// Of a block, as moves.cpp counts it.
bool isComplete(const ChunkCounts& counts)
{
    using enum ChunkState;
    return counts[Pending] + counts[Free] + counts[Leased] + counts[Trained] + counts[Poisoned] == 0;
}

struct EpochSum {
    ChunkCounts counts;
    RowCounts known;
    RowCounts done;
    std::int64_t visited = 0;
    std::int64_t completed = 0;
};

struct Meter {
    const char* name; // the column
    std::int64_t stored;
    std::int64_t summed;
};

} // namespace

AuditTallies::Block& AuditTallies::at(ChunkId chunk)
{
    const ChunkPlace place = placeOf(chunk);
    if (const Place here { place.epoch, place.block }; !last_ || here != lastPlace_) {
        lastPlace_ = here;
        last_ = &blocks_[here];
    }
    return *last_;
}

void AuditTallies::addChunk(ChunkId chunk, ChunkState state, const RowCounts& rows)
{
    Block& block = at(chunk);
    ++block.counts[state];
    add(block.known, rows);
    if (state != ChunkState::Committed)
        return;
    add(block.done, rows);
    block.visited = true;
}

void AuditTallies::visit(ChunkId chunk) { at(chunk).visited = true; }

void AuditTallies::addTokens(std::int64_t trained, std::int64_t claimed)
{
    tokens_ += trained;
    claimedTokens_ += claimed;
}

std::string runFolderOf(const Database& db) { return utf8Text(db.path().parent_path()); }

void AuditTallies::compare(Database& db, const AuditFault& wrong) const
{
    compareEpochs(db, wrong);
    compareBlocksOfEpochs(db, wrong);
    compareBlocks(db, wrong);
    compareTotals(db, wrong);
}

// What the console and the commands show of an epoch.
void AuditTallies::compareEpochs(Database& db, const AuditFault& wrong) const
{
    std::map<std::int64_t, EpochSum> sums;
    for (const auto& [place, block] : blocks_) {
        EpochSum& sum = sums[place.first];
        for (int state = 0; state < kChunkStateCount; ++state)
            sum.counts.byState[state] += block.counts.byState[state];
        add(sum.known, block.known);
        add(sum.done, block.done);
        sum.visited += block.visited;
        sum.completed += isComplete(block.counts);
    }
    static constexpr Select kEpochs {
        "SELECT epoch, n0, n1, n2, n3, n4, n5, n6, n7, visited_blocks, completed_blocks, known_rows, known_samples, known_filtered, known_failed,"
        " known_held_out, known_duplicates, done_rows, done_samples, done_filtered, done_failed, done_held_out, done_duplicates FROM epoch"
    };
    Rows rows = db.query(kEpochs.sql);
    while (rows.next()) {
        const EpochSum& sum = sums[rows.integer(kEpochs["epoch"])];
        const std::string number = std::to_string(rows.integer(kEpochs["epoch"]) + 1);
        for (int state = 0; state < kChunkStateCount; ++state)
            if (sum.counts.byState[state] != rows.integer(kEpochs["n0"] + state))
                wrong(FindingKind::Counters, {},
                    sentence("epoch %1 counts %2 chunks as %3, it has %4",
                        { number, std::to_string(rows.integer(kEpochs["n0"] + state)),
                            termOf(static_cast<ChunkState>(state)), std::to_string(sum.counts.byState[state]) }));
        const Meter meters[] = { { "visited_blocks", rows.integer(kEpochs["visited_blocks"]), sum.visited },
            { "completed_blocks", rows.integer(kEpochs["completed_blocks"]), sum.completed },
            { "known_rows", rows.integer(kEpochs["known_rows"]), sum.known.rows },
            { "known_samples", rows.integer(kEpochs["known_samples"]), sum.known.samples },
            { "known_filtered", rows.integer(kEpochs["known_filtered"]), sum.known.filtered },
            { "known_failed", rows.integer(kEpochs["known_failed"]), sum.known.failed },
            { "known_held_out", rows.integer(kEpochs["known_held_out"]), sum.known.heldOut },
            { "known_duplicates", rows.integer(kEpochs["known_duplicates"]), sum.known.duplicates },
            { "done_rows", rows.integer(kEpochs["done_rows"]), sum.done.rows },
            { "done_samples", rows.integer(kEpochs["done_samples"]), sum.done.samples },
            { "done_filtered", rows.integer(kEpochs["done_filtered"]), sum.done.filtered },
            { "done_failed", rows.integer(kEpochs["done_failed"]), sum.done.failed },
            { "done_held_out", rows.integer(kEpochs["done_held_out"]), sum.done.heldOut },
            { "done_duplicates", rows.integer(kEpochs["done_duplicates"]), sum.done.duplicates } };
        for (const Meter& meter : meters)
            if (meter.stored != meter.summed)
                wrong(FindingKind::Counters, {},
                    sentence(
                        "the meter %1 of epoch %2 says %3, the rows of its chunks say %4; 'furrowctl doctor %5 --repair' counts anew",
                        { meter.name, number, std::to_string(meter.stored), std::to_string(meter.summed),
                            runFolderOf(db) }));
    }
}

void AuditTallies::compareBlocksOfEpochs(Database& db, const AuditFault& wrong) const
{
    std::size_t stored = 0;
    Rows rows
        = db.query("SELECT epoch, block, n0, n1, n2, n3, n4, n5, n6, n7, visited FROM counts ORDER BY epoch, block");
    while (rows.next()) {
        ++stored;
        const auto found = blocks_.find({ rows.integer(0), rows.integer(1) });
        const std::vector<Argument> named { std::to_string(rows.integer(1)), std::to_string(rows.integer(0) + 1) };
        if (found == blocks_.end()) {
            wrong(FindingKind::Counters, {},
                sentence("there are counters of block %1 (epoch %2), which has no chunks", named));
            continue;
        }
        bool same = true;
        for (int state = 0; state < kChunkStateCount; ++state)
            same = same && found->second.counts.byState[state] == rows.integer(2 + state);
        if (!same)
            wrong(FindingKind::Counters, {},
                sentence("the counters of block %1 (epoch %2) differ from its chunks", named));
        if (found->second.visited != (rows.integer(10) != 0))
            wrong(FindingKind::Counters, {},
                found->second.visited
                    ? sentence("block %1 (epoch %2) does not count as visited, but training of its chunks began", named)
                    : sentence("block %1 (epoch %2) counts as visited, but no training of its chunks began", named));
    }
    if (stored < blocks_.size())
        wrong(FindingKind::Counters, {},
            sentence("%1 blocks have chunks and no counters", { std::to_string(blocks_.size() - stored) }));
}

// The blocks tile the data: those of one source follow each other without gap or overlap.
void AuditTallies::compareBlocks(Database& db, const AuditFault& wrong) const
{
    std::map<std::int64_t, std::int64_t> next; // row of each source
    std::int64_t count = 0;
    std::int64_t prepared = 0;
    {
        static constexpr Select kBlocks {
            "SELECT block, source, first_row, rows, chunks, prepared, file_name<>'' AS has_file, digest<>'' AS has_digest"
            " FROM block ORDER BY block"
        };
        Rows rows = db.query(kBlocks.sql);
        for (; rows.next(); ++count) {
            const std::int64_t block = rows.integer(kBlocks["block"]);
            const std::string number = std::to_string(block);
            prepared += rows.integer(kBlocks["prepared"]) != 0;
            if (block != count)
                return wrong(FindingKind::History, {},
                    sentence(
                        "the tracker has no row of block %1, and one of block %2; 'furrowctl doctor %3 --repair' plans the data anew",
                        { std::to_string(count), number, runFolderOf(db) }));
            const auto before = next.find(rows.integer(kBlocks["source"]));
            if (before != next.end() && before->second != rows.integer(kBlocks["first_row"]))
                wrong(FindingKind::Blocks, {},
                    sentence(
                        "block %1 begins at row %2 of its source, the block before it ended at row %3: there is a gap or an overlap",
                        { number, std::to_string(rows.integer(kBlocks["first_row"])),
                            std::to_string(before->second) }));
            next[rows.integer(kBlocks["source"])] = rows.integer(kBlocks["first_row"]) + rows.integer(kBlocks["rows"]);
            if ((rows.integer(kBlocks["prepared"]) != 0) != (rows.integer(kBlocks["has_file"]) != 0))
                wrong(FindingKind::Blocks, {},
                    rows.integer(kBlocks["prepared"]) != 0
                        ? sentence("block %1 is marked as prepared and has no file", { number })
                        : sentence("block %1 has a prepared file and is not marked as prepared", { number }));
            if (rows.integer(kBlocks["prepared"]) != 0 && rows.integer(kBlocks["has_digest"]) == 0)
                wrong(FindingKind::Blocks, {},
                    sentence(
                        "block %1 is marked as prepared and has no digest: its file cannot be proven", { number }));
            const auto chunks = blocks_.find({ 0, block });
            const std::int64_t has = chunks == blocks_.end() ? 0 : chunks->second.counts.sum();
            const std::int64_t rowsOfChunks = chunks == blocks_.end() ? 0 : chunks->second.known.rows;
            if (has != rows.integer(kBlocks["chunks"]) || rowsOfChunks != rows.integer(kBlocks["rows"]))
                wrong(FindingKind::Blocks, {},
                    sentence("block %1 has %2 chunks of %3 rows by its own row, and %4 chunks of %5 rows in epoch 1",
                        { number, std::to_string(rows.integer(kBlocks["chunks"])),
                            std::to_string(rows.integer(kBlocks["rows"])), std::to_string(has),
                            std::to_string(rowsOfChunks) }));
        }
    }
    {
        // Only chunks of a prepared block can be claimed, and all of them that wait.
        Rows rows = db.query(
            "SELECT c.epoch, c.block, b.prepared FROM epoch e CROSS JOIN counts c ON c.epoch=e.epoch CROSS JOIN block b ON b.block=c.block"
            " WHERE e.closed_wall IS NULL AND ((b.prepared=0 AND c.n1>0) OR (b.prepared<>0 AND c.n0>0))");
        while (rows.next()) {
            const std::vector<Argument> named { std::to_string(rows.integer(1)), std::to_string(rows.integer(0) + 1) };
            wrong(FindingKind::Blocks, {},
                rows.integer(2) != 0
                    ? sentence("block %1 is marked as prepared, but chunks of it (epoch %2) wait to be prepared", named)
                    : sentence(
                          "block %1 is not marked as prepared, but chunks of it (epoch %2) can be claimed", named));
        }
    }
    Rows rows = db.query("SELECT known_blocks, prepared_blocks FROM dataset");
    if (rows.next() && (rows.integer(0) != count || rows.integer(1) != prepared))
        wrong(FindingKind::Counters, {},
            sentence(
                "the tracker counts %1 known blocks and %2 prepared ones, it has %3 and %4; 'furrowctl doctor %5 --repair' counts anew",
                { std::to_string(rows.integer(0)), std::to_string(rows.integer(1)), std::to_string(count),
                    std::to_string(prepared), runFolderOf(db) }));
}

void AuditTallies::compareTotals(Database& db, const AuditFault& wrong) const
{
    std::int64_t completed = 0;
    for (const auto& [place, block] : blocks_)
        completed += isComplete(block.counts);
    const std::int64_t reserved = db.integer("SELECT sum(reserved_steps) FROM incarnation").value_or(0);
    Rows rows = db.query("SELECT steps, tokens, claimed_tokens, reserved_steps, completed_blocks FROM budget");
    if (!rows.next())
        return;
    const Meter meters[] = { { "steps", rows.integer(0), steps_ }, { "tokens", rows.integer(1), tokens_ },
        { "claimed_tokens", rows.integer(2), claimedTokensKnown_ ? claimedTokens_ : rows.integer(2) },
        { "reserved_steps", rows.integer(3), reserved }, { "completed_blocks", rows.integer(4), completed } };
    for (const Meter& meter : meters)
        if (meter.stored != meter.summed)
            wrong(FindingKind::Counters, {},
                sentence(
                    "the total %1 of the run says %2, its chunks, claims and parts say %3; 'furrowctl doctor %4 --repair' counts anew",
                    { meter.name, std::to_string(meter.stored), std::to_string(meter.summed), runFolderOf(db) }));
}

// What only saves a search must agree with what it is a shortcut to, else a chunk would be overlooked.
void checkShortcuts(Database& db, const AuditFault& wrong)
{
    if (!keepsClaimSpans(db))
        return;
    {
        Rows rows = db.query("SELECT epoch, block FROM counts WHERE wanted<>(n1+n2>0)");
        while (rows.next())
            wrong(FindingKind::Counters, {},
                sentence("block %1 (epoch %2) is not marked as its chunks say",
                    { std::to_string(rows.integer(1)), std::to_string(rows.integer(0) + 1) }));
    }
    {
        Rows rows = db.query(
            "SELECT k.id, k.holder FROM chunk k JOIN claim c ON c.id=k.claim JOIN incarnation i ON i.id=k.holder WHERE c.id<i.first_held");
        while (rows.next())
            wrong(FindingKind::Counters, { rows.integer(0) },
                sentence("%1 is held by worker process %2, which would overlook it",
                    { toString(ChunkId { rows.integer(0) }), std::to_string(rows.integer(1)) }));
    }
}

} // namespace furrow
