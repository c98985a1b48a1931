#include "core/base/sentence.h"
#include "core/tracker/epochs.h"
#include "core/tracker/lineage.h"
#include "core/tracker/worker_state.h"

#include <algorithm>

// The commit point of a checkpoint. A part may belong to a finished claim or to one still in training (the checkpoint
// froze in the middle of it and was written in the background), and training may have gone on since the freeze; so a
// chunk leaves the hands of its worker only when everything its claim has done is in checkpoints.

namespace furrow {

namespace {

struct ChunkParts {
    ChunkId chunk;
    WindowRanges windows;
    std::int64_t steps = 0; // -1: not given
};

Result<std::vector<ChunkParts>> groupByChunk(std::span<const Part> parts)
{
    std::vector<Part> sorted(parts.begin(), parts.end());
    std::sort(sorted.begin(), sorted.end(), [](const Part& a, const Part& b) {
        return std::pair(a.chunk.value, a.windows.begin) < std::pair(b.chunk.value, b.windows.begin);
    });
    std::vector<ChunkParts> groups;
    for (const Part& part : sorted) {
        if (groups.empty() || groups.back().chunk != part.chunk)
            groups.push_back({ part.chunk, {}, 0 });
        ChunkParts& group = groups.back();
        group.windows.push_back(part.windows);
        group.steps = group.steps < 0 || part.steps < 0 ? -1 : group.steps + part.steps;
    }
    for (ChunkParts& group : groups) {
        auto joined = normalized(std::move(group.windows));
        if (!joined)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 is listed twice in one checkpoint, or with an empty range", { toString(group.chunk) }) };
        group.windows = std::move(*joined);
    }
    return groups;
}

class Committer {
public:
    Committer(LedgerFile& file, ChunkMoves& moves, RunState& run, std::int64_t incarnation, CheckpointId checkpoint)
        : file_(file)
        , moves_(moves)
        , run_(run)
        , incarnation_(incarnation)
        , checkpoint_(checkpoint)
        , cause_(sentence("checkpoint %1", { std::to_string(checkpoint.value) }))
    {
    }

    /// Both by chunk id.
    void commitAll(const std::vector<ChunkParts>& groups)
    {
        std::vector<ClaimedChunk> held = loadHeldChunks(file_.db, incarnation_);
        auto group = groups.begin();
        std::int64_t firstHeld = 0; // claim
        for (ClaimedChunk& one : held) {
            if (group != groups.end() && group->chunk == one.chunk.id)
                commit(*group++, one);
            else if (one.claim.outcome == ClaimOutcome::Trained
                && one.claim.done.empty()) // every window was skipped: in no list
                commit({ one.chunk.id, one.claim.skipped, 0 }, one);
            if (one.chunk.holder && (firstHeld == 0 || one.claim.id < firstHeld))
                firstHeld = one.claim.id;
        }
        insertParts(file_, checkpoint_, std::move(parts_));
        file_.db.run(
            "UPDATE incarnation SET first_held=coalesce(nullif(?, 0), (SELECT coalesce(max(id), 0)+1 FROM claim)) WHERE id=?",
            firstHeld, incarnation_);
        if (group != groups.end())
            file_.db.fail({ ErrorCode::InvalidArgument,
                sentence("this worker does not hold %1 (any more)", { toString(group->chunk) }) });
    }

private:
    void commit(const ChunkParts& parts, ClaimedChunk& held)
    {
        Database& db = file_.db;
        auto& [chunk, claim] = held;
        const bool finished = claim.outcome == ClaimOutcome::Trained;
        const WindowRanges covered = coveredRanges(db, chunk);
        const WindowRanges trained = finished ? subtract(parts.windows, claim.skipped) : parts.windows;
        if (!contains(finished ? claim.done : claim.ranges, trained)) {
            db.fail({ ErrorCode::InvalidArgument,
                sentence(
                    "%1: the checkpoint lists windows that this worker did not train", { toString(parts.chunk) }) });
            return;
        }
        if (!intersect(covered, parts.windows).empty()) {
            db.fail({ ErrorCode::InvalidArgument,
                sentence("%1: the checkpoint lists windows that another one has already", { toString(parts.chunk) }) });
            return;
        }
        const bool allDone = finished && subtract(subtract(claim.done, covered), trained).empty();
        const WindowRanges skipped
            = allDone ? subtract(claim.skipped, covered) : intersect(parts.windows, claim.skipped);
        const std::int64_t steps = stepsOf(claim, parts, trained, allDone, !covered.empty());
        if (!finished) {
            moves_.totals().steps += steps;
            moves_.totals().tokens += tokensIn(trained, chunk.tokens, chunk.windows.value_or(0), file_.windowTokens);
            useReservedSteps(file_, moves_, incarnation_, run_, steps);
        }
        addParts(chunk, claim, trained, false, steps);
        addParts(chunk, claim, skipped, true, 0);
        chunk.covered += countWindows(trained) + countWindows(skipped);
        if (!allDone)
            moves_.store(chunk);
        else if (chunk.covered == chunk.windows)
            finishChunk(chunk);
        else
            releaseRest(chunk, subtract(subtract(subtract(claim.ranges, covered), trained), skipped));
    }

    std::int64_t stepsOf(
        const HeldClaim& claim, const ChunkParts& parts, const WindowRanges& trained, bool allDone, bool hadParts)
    {
        const bool finished = claim.outcome == ClaimOutcome::Trained;
        const std::int64_t left = finished ? claim.steps - (hadParts ? committedSteps(file_.db, claim.id) : 0) : 0;
        if (allDone)
            return std::max<std::int64_t>(0, left);
        if (parts.steps >= 0)
            return finished ? std::clamp<std::int64_t>(parts.steps, 0, std::max<std::int64_t>(0, left)) : parts.steps;
        const std::int64_t done = countWindows(claim.done);
        return finished && done > 0 ? claim.steps * countWindows(trained) / done : 0;
    }

    void addParts(
        const ChunkRow& chunk, const HeldClaim& claim, const WindowRanges& ranges, bool skipped, std::int64_t steps)
    {
        for (const WindowRange& range : ranges) {
            parts_.push_back({ claim.id, range, chunk.id, skipped, steps });
            steps = 0; // all of them with the first range
        }
    }

    void finishChunk(ChunkRow& chunk)
    {
        chunk.holder.reset();
        if (chunk.state == ChunkState::Leased)
            moves_.move(chunk, ChunkState::Trained, cause_);
        moves_.move(chunk, ChunkState::Committed, cause_, ChunkMoves::Fields::Coverage);
    }

    /// @param rest  windows of the claim that are in no checkpoint
    void releaseRest(ChunkRow& chunk, const WindowRanges& rest)
    {
        chunk.holder.reset();
        moves_.totals().claimedTokens -= tokensIn(rest, chunk.tokens, chunk.windows.value_or(0), file_.windowTokens);
        moves_.move(chunk, moves_.unclaimedState(chunk), sentence("the rest after %1", { cause_ }));
    }

    LedgerFile& file_;
    ChunkMoves& moves_;
    RunState& run_;
    std::int64_t incarnation_;
    CheckpointId checkpoint_;
    std::string cause_;
    std::vector<PartRow> parts_;
};

} // namespace

Result<CheckpointId> WorkerLedger::commit(const CheckpointRecord& checkpoint, std::span<const Part> parts)
{
    FURROW_TRY_ASSIGN(auto groups, groupByChunk(parts));
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, Durability::Full));
    RunState run = requireLive(file, state_->incarnation);
    CheckpointRecord record = checkpoint;
    if (record.kind != CheckpointKind::Replica || record.replica != state_->replica)
        db.fail({ ErrorCode::InvalidArgument,
            sentence("this worker may only commit checkpoints of replica %1", { std::to_string(state_->replica) }) });
    // The new weights must come from the head of the replica, else parts would be in no line or in two.
    const auto head = db.integer("SELECT head FROM replica WHERE replica=?", state_->replica);
    if (head && record.parents.empty())
        record.parents.push_back({ *head });
    const bool fromStart = record.parents == std::vector { kStartWeights };
    if (head && std::find(record.parents.begin(), record.parents.end(), CheckpointId { *head }) == record.parents.end())
        db.fail({ ErrorCode::InvalidArgument,
            sentence("checkpoint %1 was not made from checkpoint %2, the newest of replica %3",
                { record.folder, std::to_string(*head), std::to_string(state_->replica) }) });
    if (fromStart)
        record.parents.clear();
    const CheckpointId id = insertCheckpoint(file, state_->incarnation, record);
    ChunkMoves moves(file, state_->incarnation);
    Committer(file, moves, run, state_->incarnation, id).commitAll(groups);
    db.run("UPDATE replica SET head=?, parked=0 WHERE replica=?", id, state_->replica);
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("committing checkpoint %1", { record.folder }));
    return id;
}

} // namespace furrow
