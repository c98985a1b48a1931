#include "core/run/status/keeps_open.h"

#include "core/base/sentence.h"
#include "core/run/status/open_epochs.h"
#include "core/tracker/left_out_samples.h"

namespace furrow {

namespace {

/// The same kinds with the same counts as the legend of the epoch has them: what has lost its work is counted as that
/// alone.
std::vector<Message> whatKeepsOpen(const EpochRow& epoch)
{
    std::vector<Message> reasons;
    const auto say = [&](std::int64_t n, const Message& one, const Message& many) {
        if (n > 0)
            reasons.push_back(n == 1 ? one : many);
    };
    const auto& lost = epoch.lost;
    const ChunkCounts chunks = countedOnce(epoch);
    const auto pending = chunks[ChunkState::Pending];
    const auto free = chunks[ChunkState::Free];
    const auto leased = chunks[ChunkState::Leased];
    const auto trained = chunks[ChunkState::Trained];
    const auto poisoned = chunks[ChunkState::Poisoned];
    say(pending, sentence("1 chunk not prepared yet"),
        sentence("%1 chunks not prepared yet", { std::to_string(pending) }));
    say(free, sentence("1 chunk free"), sentence("%1 chunks free", { std::to_string(free) }));
    const auto partly = epoch.partly.sum();
    const Count done(epoch.partly.samplesDone);
    const Count all(epoch.partly.samples);
    say(partly,
        sentence("1 chunk partly trained: %1 of its %2 samples are in checkpoints, the rest is to come", { done, all }),
        sentence("%1 chunks partly trained: %2 of their %3 samples are in checkpoints, the rest is to come",
            { std::to_string(partly), done, all }));
    say(lost.sum(), sentence("1 chunk whose work was lost: it is trained again"),
        sentence("%1 chunks whose work was lost: they are trained again", { std::to_string(lost.sum()) }));
    if (const auto& kept = lost.kept; kept.chunks > 0)
        reasons.back() = sentence("%1 (checkpoints have a part of %2 of these: %3 of their %4 samples are kept)",
            { reasons.back(), Count(kept.chunks), Count(kept.samplesDone), Count(kept.samples) });
    say(leased, sentence("1 chunk leased"), sentence("%1 chunks leased", { std::to_string(leased) }));
    say(lost.released, sentence("1 chunk claimed by a worker that is gone"),
        sentence("%1 chunks claimed by workers that are gone", { std::to_string(lost.released) }));
    say(trained, sentence("1 chunk trained, not in a checkpoint yet"),
        sentence("%1 chunks trained, not in a checkpoint yet", { std::to_string(trained) }));
    say(poisoned, sentence("1 chunk poisoned: accept or retry"),
        sentence("%1 chunks poisoned: accept or retry", { std::to_string(poisoned) }));
    if (!epoch.blockCount)
        reasons.push_back(epoch.unprovenReason.empty()
                ? sentence("last block not proven")
                : sentence("last block not proven because %1", { epoch.unprovenReason }));
    return reasons;
}

} // namespace

Result<std::vector<ChunkCell>> heldByGone(
    LedgerReader& ledger, const std::vector<IncarnationRow>& rows, const Viewpoint& view)
{
    std::vector<ChunkCell> all;
    for (const auto& row : rows) {
        if (!row.live || view.isAlive(row))
            continue;
        FURROW_TRY_ASSIGN(auto held, ledger.heldBy(row.id));
        for (ChunkCell& cell : held) {
            cell.holderGone = true;
            all.push_back(cell);
        }
    }
    return all;
}

namespace {

/// @param isShown  shownEpochs()
Status countLeftOut(EpochRow& epoch, bool isShown, LedgerReader& ledger)
{
    if (epoch.chunks[ChunkState::Excluded] + epoch.chunks[ChunkState::Accepted] == 0)
        return {};
    if (!isShown) { // only what is in the weights counts on
        FURROW_TRY_ASSIGN(epoch.partlyLeftOut, ledger.partlyLeftOut(epoch));
        return {};
    }
    FURROW_TRY_ASSIGN(epoch.leftOutBlocks, ledger.leftOutBlocks(epoch.epoch));
    if (epoch.chunks[ChunkState::Excluded] > 0) {
        FURROW_TRY_ASSIGN(const auto out, ledger.leftOut(ChunkState::Excluded, epoch.epoch));
        epoch.samplesExcluded = out.samples;
        epoch.unreadExcluded = out.unread;
        epoch.toParent = out.toParent;
        epoch.partlyLeftOut += out.partly;
    }
    if (epoch.chunks[ChunkState::Accepted] > 0) {
        FURROW_TRY_ASSIGN(const auto out, ledger.leftOut(ChunkState::Accepted, epoch.epoch));
        epoch.samplesAccepted = out.samples;
        epoch.unreadAccepted = out.unread;
        epoch.partlyLeftOut += out.partly;
    }
    return {};
}

} // namespace

Result<std::vector<ChunkId>> countChunksApart(
    std::vector<EpochRow>& epochs, const std::vector<ChunkCell>& goneHolds, bool isBegun, LedgerReader& ledger)
{
    std::vector<ChunkId> lost;
    const auto skipped = skippedChunks(ledger.file());
    const auto count = [&skipped](EpochRow& epoch, const ChunkCell& cell) {
        countApart(epoch, cell, skipped.ok() ? windowsSkippedOf(skipped.value(), cell.id) : 0);
    };
    for (EpochRow& epoch : epochs) {
        FURROW_TRY(countLeftOut(epoch, !epoch.closedWallNs || &epoch == &epochs.back(), ledger));
        if (epoch.closedWallNs)
            continue;
        if (epoch.chunks[ChunkState::Pending] + epoch.chunks[ChunkState::Free] > 0 && isBegun) {
            FURROW_TRY_ASSIGN(auto cells, ledger.takenUpOnce(epoch.epoch));
            for (const ChunkCell& cell : cells) {
                count(epoch, cell);
                if (isWorkLost(cell))
                    lost.push_back(cell.id);
            }
        }
        for (const ChunkCell& cell : goneHolds)
            if (placeOf(cell.id).epoch == epoch.epoch)
                count(epoch, cell);
    }
    return lost;
}

/// Two open epochs have a sentence each; of more, which differ in counts alone, people want the sums.
std::vector<Message> whatKeepsOpen(const std::vector<EpochRow>& epochs)
{
    constexpr std::int64_t kMostApart = 2;
    std::vector<Message> said;
    const auto shown = shownEpochs(epochs);
    if (!shown || shown->together.closedWallNs)
        return said;
    if (shown->count() > kMostApart) {
        for (const Message& reason : whatKeepsOpen(shown->together))
            said.push_back(sentence(
                "epochs %1 to %2: %3", { std::to_string(shown->first + 1), std::to_string(shown->last + 1), reason }));
        return said;
    }
    for (const EpochRow& epoch : openEpochs(epochs))
        for (const Message& reason : whatKeepsOpen(epoch))
            said.push_back(
                shown->count() == 1 ? reason : sentence("epoch %1: %2", { std::to_string(epoch.epoch + 1), reason }));
    return said;
}

} // namespace furrow
