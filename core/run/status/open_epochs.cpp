#include "core/run/status/open_epochs.h"

#include "core/run/status/samples_left_out.h"
#include "core/tracker/row_counts.h"

#include <algorithm>

namespace furrow {

namespace {

void add(LostChunks& sum, const LostChunks& more)
{
    sum.pending += more.pending;
    sum.free += more.free;
    sum.leased += more.leased;
    sum.trained += more.trained;
    sum.released += more.released;
    sum.kept.chunks += more.kept.chunks;
    sum.kept.samplesDone += more.kept.samplesDone;
    sum.kept.samples += more.kept.samples;
}

void add(PartlyTrained& sum, const PartlyTrained& more)
{
    sum.pending += more.pending;
    sum.free += more.free;
    sum.samplesDone += more.samplesDone;
    sum.samples += more.samples;
}

void add(LeftToParent& sum, const LeftToParent& more)
{
    sum.chunks += more.chunks;
    sum.samples += more.samples;
    sum.unread += more.unread;
}

void add(EpochRow& sum, const EpochRow& more)
{
    if (sum.blockCount && more.blockCount)
        *sum.blockCount += *more.blockCount;
    sum.knownBlocks += more.knownBlocks;
    sum.visitedBlocks += more.visitedBlocks;
    sum.completedBlocks += more.completedBlocks;
    sum.leftOutBlocks += more.leftOutBlocks;
    sum.preparedBlocks += more.preparedBlocks;
    for (int state = 0; state < kChunkStateCount; ++state)
        sum.chunks.byState[state] += more.chunks.byState[state];
    add(sum.rowsCommitted, more.rowsCommitted);
    add(sum.rowsKnown, more.rowsKnown);
    sum.samplesExcluded += more.samplesExcluded;
    sum.samplesAccepted += more.samplesAccepted;
    sum.unreadExcluded += more.unreadExcluded;
    sum.unreadAccepted += more.unreadAccepted;
    add(sum.lost, more.lost);
    add(sum.partly, more.partly);
    add(sum.toParent, more.toParent);
    sum.partlyLeftOut += more.partlyLeftOut;
}

} // namespace

std::string ShownEpochs::name() const
{
    if (count() == 1)
        return "epoch " + std::to_string(first + 1);
    return "epochs " + std::to_string(first + 1) + (count() == 2 ? " and " : " to ") + std::to_string(last + 1);
}

void countApart(EpochRow& epoch, const ChunkCell& cell, std::int64_t windowsSkipped)
{
    LostChunks& lost = epoch.lost;
    if (isWorkLost(cell)) {
        ++(cell.state == ChunkState::Pending        ? lost.pending
                : cell.state == ChunkState::Leased  ? lost.leased
                : cell.state == ChunkState::Trained ? lost.trained
                                                    : lost.free);
        if (const TrainedPart part = trainedPart(cell, windowsSkipped); cell.covered > 0) {
            ++lost.kept.chunks;
            lost.kept.samplesDone += part.samples;
            lost.kept.samples += part.samplesWanted;
        }
    } else if (cell.holderGone) {
        ++lost.released;
    } else if (isPartlyTrained(cell)) {
        const TrainedPart part = trainedPart(cell, windowsSkipped);
        ++(cell.state == ChunkState::Pending ? epoch.partly.pending : epoch.partly.free);
        epoch.partly.samplesDone += part.samples;
        epoch.partly.samples += part.samplesWanted;
    } else if (isLeftToParent(cell)) {
        ++epoch.toParent.chunks;
        epoch.toParent.samples += cell.samples;
    } else if (cell.state == ChunkState::Excluded || cell.state == ChunkState::Accepted) {
        (cell.state == ChunkState::Excluded ? epoch.samplesExcluded : epoch.samplesAccepted)
            += cell.samples - epoch.partlyLeftOut.add(cell, windowsSkipped);
    }
}

ChunkCounts countedOnce(const EpochRow& epoch)
{
    ChunkCounts counts = epoch.chunks;
    const auto take = [&counts](ChunkState state, std::int64_t n) { counts.byState[static_cast<int>(state)] -= n; };
    take(ChunkState::Pending, epoch.lost.pending + epoch.partly.pending);
    take(ChunkState::Free, epoch.lost.free + epoch.partly.free);
    take(ChunkState::Leased, epoch.lost.leased + epoch.lost.released);
    take(ChunkState::Trained, epoch.lost.trained);
    return counts;
}

std::vector<EpochRow> openEpochs(const std::vector<EpochRow>& epochs)
{
    std::vector<EpochRow> open;
    std::copy_if(epochs.begin(), epochs.end(), std::back_inserter(open),
        [](const EpochRow& epoch) { return !epoch.closedWallNs; });
    if (open.empty() && !epochs.empty())
        open.push_back(epochs.back());
    return open;
}

std::optional<ShownEpochs> shownEpochs(const std::vector<EpochRow>& epochs)
{
    const auto open = openEpochs(epochs);
    if (open.empty())
        return std::nullopt;
    ShownEpochs shown { open.front().epoch, open.back().epoch, open.front() };
    for (std::size_t i = 1; i < open.size(); ++i)
        add(shown.together, open[i]);
    return shown;
}

} // namespace furrow
