#include "core/run/start/resume_effect.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/run/start/wrong_transfers.h"
#include "core/run/status/samples_left_out.h"

#include <algorithm>
#include <map>
#include <set>

namespace furrow {

namespace {

/// Everything that processes of earlier attempts hold: none of them will finish it.
Result<std::map<ChunkId, bool>> heldChunks(LedgerReader& reader) // -> begun
{
    FURROW_TRY_ASSIGN(auto incarnations, reader.incarnations());
    std::map<ChunkId, bool> held;
    for (const auto& row : incarnations) {
        if (!row.live)
            continue;
        FURROW_TRY_ASSIGN(auto cells, reader.heldBy(row.id));
        for (const ChunkCell& cell : cells)
            held[cell.id] = cell.begun;
    }
    return held;
}

bool has(const std::vector<ChunkId>& ascending, ChunkId chunk)
{
    return std::binary_search(ascending.begin(), ascending.end(), chunk);
}

const LedgerReader::Staying* findStaying(const std::vector<LedgerReader::Staying>& ascending, ChunkId chunk)
{
    const auto found = std::ranges::lower_bound(ascending, chunk, {}, &LedgerReader::Staying::chunk);
    return found == ascending.end() || found->chunk != chunk ? nullptr : &*found;
}

/// Something that checkpoints have of it leaves the weights: as the ledger will count it.
void losePart(ChunkCell& cell)
{
    ++cell.timesLost;
    cell.savedSinceLoss = false;
}

/// As retryWrongTransfers() will find them. Without a poisoned chunk none needs to be looked for.
Result<std::vector<ChunkId>> triedAgain(const LedgerReader& reader, const std::vector<EpochRow>& epochs)
{
    const auto isAnyPoisoned = [](const EpochRow& epoch) { return epoch.chunks[ChunkState::Poisoned] > 0; };
    if (std::ranges::none_of(epochs, isAnyPoisoned))
        return std::vector<ChunkId> {};
    return wrongTransfers(reader.file());
}

std::set<std::int64_t> epochsOf(const std::vector<EpochRow>& epochs, const std::vector<ChunkId>& redo)
{
    std::set<std::int64_t> numbers;
    for (const EpochRow& epoch : epochs)
        if (!epoch.closedWallNs)
            numbers.insert(epoch.epoch);
    for (const ChunkId chunk : redo)
        numbers.insert(placeOf(chunk).epoch);
    if (numbers.empty() && !epochs.empty())
        numbers.insert(epochs.back().epoch);
    return numbers;
}

} // namespace

ChunkFate ResumeEffect::fateOf(const ChunkCell& cell) const
{
    if (isWorkLost(cell))
        return ChunkFate::Lost;
    switch (cell.state) {
    case ChunkState::Committed: return has(redo, cell.id) ? ChunkFate::Redo : ChunkFate::Kept;
    case ChunkState::Excluded: return isLeftToParent(cell) ? ChunkFate::Parents : ChunkFate::Excluded;
    case ChunkState::Poisoned:
    case ChunkState::Accepted: return ChunkFate::Poisoned;
    case ChunkState::Trained:
    case ChunkState::Leased: return ChunkFate::Released;
    case ChunkState::Pending:
    case ChunkState::Free: break;
    }
    return isPartlyTrained(cell) ? ChunkFate::Partly : ChunkFate::Free;
}

Result<ResumeEffect> weightsAfterResume(
    LedgerReader& reader, std::optional<CheckpointId> goBackTo, const CheckpointFiles& files)
{
    ResumeEffect effect;
    for (;;) { // a head whose files are not whole falls back, perhaps to another such one
        FURROW_TRY_ASSIGN(auto retreat, reader.retreat(goBackTo, effect.left, files.thereAgain));
        const auto before = effect.left.size();
        for (const auto& [replica, head] : retreat.heads)
            if (std::find(effect.left.begin(), effect.left.end(), head) == effect.left.end() && !files.isWhole(head))
                effect.left.push_back(head);
        if (effect.left.size() != before)
            continue;
        effect.redo = std::move(retreat.chunks);
        effect.partsLost = std::move(retreat.parts);
        effect.staying = std::move(retreat.staying);
        effect.heads = std::move(retreat.heads);
        effect.surviving = std::move(retreat.surviving);
        return effect;
    }
}

std::vector<KeptState> keptStatesAfter(ReplicaHeads now, const ResumeEffect& weights, MergeMethod merge)
{
    for (auto& row : now.checkpoints) {
        row.surviving = weights.surviving.contains(row.id);
        row.head = std::ranges::any_of(weights.heads, [&row](const auto& head) { return head.second == row.id; });
    }
    for (auto& replica : now.replicas) {
        const auto head = weights.heads.find(replica.replica);
        replica.head = head == weights.heads.end() ? std::nullopt : std::optional(head->second);
    }
    return keptStates(now.checkpoints, now.replicas, merge);
}

Result<ResumeEffect> resumeEffect(
    LedgerReader& reader, std::optional<CheckpointId> goBackTo, const CheckpointFiles& files)
{
    FURROW_TRY_ASSIGN(auto weights, weightsAfterResume(reader, goBackTo, files));
    ResumeEffect effect = std::move(weights);
    FURROW_TRY_ASSIGN(auto epochs, reader.epochs());
    FURROW_TRY_ASSIGN(auto held, heldChunks(reader));
    FURROW_TRY_ASSIGN(effect.triedAgain, triedAgain(reader, epochs));
    FURROW_TRY_ASSIGN(effect.skipped, skippedChunks(reader.file()));
    for (const std::int64_t number : epochsOf(epochs, effect.redo)) {
        FURROW_TRY_ASSIGN(auto cells, reader.cells(number));
        for (ChunkCell& cell : cells) {
            if (const auto holder = held.find(cell.id); holder != held.end()) {
                cell.holderGone = true;
                cell.begun = holder->second;
            }
            if (has(effect.triedAgain, cell.id))
                cell.state = ChunkState::Pending;
            if (has(effect.partsLost, cell.id))
                losePart(cell);
            ++effect.byFate[static_cast<std::size_t>(effect.fateOf(cell))];
        }
        effect.epochs.push_back({ number, std::move(cells) });
    }
    return effect;
}

ResumeEffect ResumeEffect::whenLeaving(const std::vector<ChunkId>& redoThen, const std::vector<ChunkId>& partsLostThen,
    const std::vector<LedgerReader::Staying>& stayingThen) const
{
    ResumeEffect then = *this;
    then.redo = redoThen;
    then.partsLost = partsLostThen;
    then.staying = stayingThen;
    then.byFate = {};
    for (auto& epoch : then.epochs)
        for (ChunkCell& cell : epoch.cells) {
            if (has(partsLostThen, cell.id) && !has(partsLost, cell.id))
                losePart(cell);
            ++then.byFate[static_cast<std::size_t>(then.fateOf(cell))];
        }
    return then;
}

std::int64_t ResumeEffect::againWhenLeaving(
    const std::vector<ChunkId>& redoThen, const std::vector<ChunkId>& partsLostThen) const
{
    std::int64_t again = std::ssize(redoThen) + (*this)[ChunkFate::Lost];
    if (partsLostThen.empty()) // as a rule: of a million cells none is asked
        return again;
    for (const auto& epoch : epochs)
        for (const ChunkCell& cell : epoch.cells) {
            if (isWorkLost(cell) || !has(partsLostThen, cell.id))
                continue;
            ChunkCell then = cell;
            losePart(then);
            again += isWorkLost(then) ? 1 : 0; // what was left out since stays left out
        }
    return again;
}

std::int64_t ResumeEffect::keptUntrained(std::int64_t epoch) const
{
    if (skipped == nullptr)
        return 0;
    return std::ranges::count_if(*skipped, [this, epoch](const SkippedChunk& chunk) {
        return placeOf(chunk.chunk).epoch == epoch && chunk.isCommittedUntrained() && !has(redo, chunk.chunk);
    });
}

std::int64_t ResumeEffect::keptUntrained() const
{
    std::set<std::int64_t> numbers;
    for (const auto& epoch : epochs)
        numbers.insert(epoch.epoch);
    for (const ChunkId chunk : redo)
        numbers.insert(placeOf(chunk).epoch);
    std::int64_t sum = 0;
    for (const std::int64_t epoch : numbers)
        sum += keptUntrained(epoch);
    return sum;
}

namespace {

void addPart(ResumeEffect::KeptParts& sum, const ChunkCell& cell, std::int64_t windowsSkipped)
{
    const TrainedPart part = trainedPart(cell, windowsSkipped);
    ++sum.chunks;
    sum.samplesDone += part.samples;
    sum.samples += part.samplesWanted;
    sum.samplesLeftOut += part.samplesLeftOut;
}

void addPart(ResumeEffect::KeptParts& sum, const LedgerReader::Staying& staying)
{
    ChunkCell then;
    then.covered = staying.covered;
    then.windows = staying.windows;
    then.samples = staying.samples;
    addPart(sum, then, staying.skipped);
}

/// Of a chunk that is not committed, as it is then.
void addPart(ResumeEffect::KeptParts& sum, const ResumeEffect& effect, const ChunkCell& cell)
{
    if (const auto* staying = findStaying(effect.staying, cell.id); staying != nullptr)
        addPart(sum, *staying);
    else if (cell.covered > 0 && !has(effect.partsLost, cell.id))
        addPart(sum, cell, windowsSkippedOf(effect.skipped, cell.id));
}

} // namespace

std::int64_t ResumeEffect::coveredThen(const ChunkCell& cell) const
{
    if (const auto* part = findStaying(staying, cell.id); part != nullptr)
        return part->covered;
    return has(redo, cell.id) || has(partsLost, cell.id) ? 0 : cell.covered;
}

ResumeEffect::KeptParts ResumeEffect::keptOfRedo() const
{
    KeptParts sum;
    for (const LedgerReader::Staying& part : staying)
        if (has(redo, part.chunk))
            addPart(sum, part);
    return sum;
}

ResumeEffect::KeptParts ResumeEffect::keptOfLost() const
{
    KeptParts sum;
    for (const auto& epoch : epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (isWorkLost(cell))
                addPart(sum, *this, cell);
    return sum;
}

ResumeEffect::KeptParts ResumeEffect::keptOfAgain() const
{
    KeptParts sum = keptOfRedo();
    const KeptParts lost = keptOfLost();
    sum.chunks += lost.chunks;
    sum.samplesDone += lost.samplesDone;
    sum.samples += lost.samples;
    sum.samplesLeftOut += lost.samplesLeftOut;
    return sum;
}

ResumeEffect::KeptParts ResumeEffect::keptOfPartly() const
{
    KeptParts sum;
    for (const auto& epoch : epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (isPartlyTrained(cell))
                addPart(sum, *this, cell);
    return sum;
}

ResumeEffect::KeptParts ResumeEffect::keptOfLeftOut() const
{
    KeptParts sum;
    for (const auto& epoch : epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (isPartlyLeftOut(cell))
                addPart(sum, *this, cell);
    return sum;
}

namespace {

/// Of the chunks that are kept; "": there are none.
Message untrainedSentence(const ResumeEffect& effect)
{
    const std::int64_t untrained = effect.keptUntrained();
    if (untrained == 0)
        return {};
    return untrained == 1
        ? sentence(
              "1 of the kept chunks is left out by name, as its steps were not finite: nothing of it is in the weights.")
        : sentence(
              "%1 of the kept chunks are left out by name, as their steps were not finite: nothing of them is in the weights.",
              { Count(untrained) });
}

/// Of chunks that are trained again and not as a whole; "": there are none.
Message keptOfAgainSentence(const ResumeEffect::KeptParts& kept)
{
    if (kept.chunks == 0)
        return {};
    return sentence(
        "Checkpoints have a part of %1 of these (%2 of their %3 samples), which is kept: only the rest is trained again.",
        { Count(kept.chunks), Count(kept.samplesDone), Count(kept.samples) });
}

/// Of chunks that are trained in part; "": there are none.
Message partsSentence(const ResumeEffect::KeptParts& partly)
{
    const Count done(partly.samplesDone);
    const Count all(partly.samples);
    switch (partly.chunks) {
    case 0: return {};
    case 1:
        return sentence(
            "1 more is partly trained: %1 of its %2 samples are kept, and nothing of these is trained again.",
            { done, all });
    default:
        return sentence(
            "%1 more are partly trained: %2 of their %3 samples are kept, and nothing of these is trained again.",
            { Count(partly.chunks), done, all });
    }
}

/// Of chunks that are left out; "": none of them is trained in part.
Message keptOfLeftOutSentence(const ResumeEffect::KeptParts& kept)
{
    if (kept.chunks == 0)
        return {};
    return sentence(
        "Checkpoints have a part of %1 of the chunks that are left out (%2 of their %3 samples), which is kept; the rest is not trained.",
        { Count(kept.chunks), Count(kept.samplesDone), Count(kept.samples) });
}

/// Of chunks that are not left out; "": there are none.
Message leftOutOfPartsSentence(std::int64_t samples)
{
    return samples == 0
        ? Message()
        : sentence("Samples of such parts that are left out by name, as their steps were not finite: %1.",
              { Count(samples) });
}

} // namespace

Message effectSentence(const ResumeEffect& effect)
{
    std::map<std::int64_t, std::int64_t> again; // by epoch; one that is opened again for them may have no cells here
    for (const ChunkId chunk : effect.redo)
        ++again[placeOf(chunk).epoch];
    for (const auto& epoch : effect.epochs)
        if (const auto lost = std::count_if(epoch.cells.begin(), epoch.cells.end(), isWorkLost); lost > 0)
            again[epoch.epoch] += lost;
    Message where;
    for (const auto& [epoch, count] : again)
        where += (where.empty() ? "" : ", ") + sentence("%1 of epoch %2", { Count(count), std::to_string(epoch + 1) });
    const Count kept(effect[ChunkFate::Kept]);
    const bool isOne = effect[ChunkFate::Kept] == 1;
    const Message whole = where.empty() ? isOne ? sentence("It keeps 1 chunk and trains none again.")
                                                : sentence("It keeps %1 chunks and trains none again.", { kept })
        : isOne ? sentence("It keeps 1 chunk and trains %1 again: %2.", { Count(effect.again()), where })
                : sentence("It keeps %1 chunks and trains %2 again: %3.", { kept, Count(effect.again()), where });
    Message all = whole;
    const std::int64_t first = effect.epochs.empty() ? 0 : effect.epochs.front().epoch;
    const Message before = first == 0 ? Message()
        : first == 1                  ? sentence("All of epoch 1 is kept.")
                                      : sentence("All epochs before epoch %1 are kept.", { std::to_string(first + 1) });
    const auto ofAgain = effect.keptOfAgain();
    const auto partly = effect.keptOfPartly();
    for (const Message& more : { untrainedSentence(effect), before, keptOfAgainSentence(ofAgain), partsSentence(partly),
             keptOfLeftOutSentence(effect.keptOfLeftOut()),
             leftOutOfPartsSentence(ofAgain.samplesLeftOut + partly.samplesLeftOut) })
        if (!more.empty())
            all += " " + more;
    return all;
}

} // namespace furrow
