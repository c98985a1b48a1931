#include "core/run/status/samples_left_out.h"

#include "core/run/status/open_epochs.h"
#include "core/tracker/left_out_samples.h"

#include <algorithm>

namespace furrow {

namespace {

void add(const SkippedChunk& chunk, LedgerReader& ledger, SkippedOfEpoch& epoch)
{
    const std::int64_t samples = chunk.samplesOf(chunk.windowsSkipped());
    if (chunk.state == ChunkState::Committed) {
        epoch.samples += samples;
        epoch.chunks += chunk.isCommittedUntrained() ? 1 : 0;
    } else if (const auto cell = ledger.cell(chunk.chunk); cell.ok() && isPartlyTrained(cell.value())) {
        epoch.samplesOfPartly += samples;
    }
}

} // namespace

std::map<std::int64_t, SkippedOfEpoch> skippedByEpoch(LedgerReader& ledger)
{
    std::map<std::int64_t, SkippedOfEpoch> byEpoch;
    const auto chunks = skippedChunks(ledger.file());
    if (!chunks.ok())
        return byEpoch;
    for (const SkippedChunk& chunk : *chunks.value())
        if (chunk.windowsSkipped() > 0)
            add(chunk, ledger, byEpoch[placeOf(chunk.chunk).epoch]);
    return byEpoch;
}

SkippedOfEpoch sumOf(const std::map<std::int64_t, SkippedOfEpoch>& byEpoch, const ShownEpochs& shown)
{
    SkippedOfEpoch sum;
    for (auto one = byEpoch.lower_bound(shown.first); one != byEpoch.end() && one->first <= shown.last; ++one) {
        sum.samples += one->second.samples;
        sum.chunks += one->second.chunks;
        sum.samplesOfPartly += one->second.samplesOfPartly;
    }
    return sum;
}

void takeOutLeftOut(std::vector<EpochRow>& epochs, const std::map<std::int64_t, SkippedOfEpoch>& byEpoch)
{
    for (EpochRow& epoch : epochs) {
        const auto found = byEpoch.find(epoch.epoch);
        if (found == byEpoch.end())
            continue;
        epoch.rowsCommitted.samples -= std::min(epoch.rowsCommitted.samples, found->second.samples);
    }
}

TrainedPart trainedPart(const ChunkCell& cell, std::int64_t windowsLeftOut)
{
    const std::int64_t leftOut = std::clamp<std::int64_t>(windowsLeftOut, 0, cell.windows);
    TrainedPart part;
    part.windows = std::max<std::int64_t>(0, cell.covered - leftOut);
    part.windowsWanted = cell.windows - leftOut;
    part.samplesLeftOut = samplesOfWindows(leftOut, cell.samples, cell.windows);
    part.samples = samplesTrained(part.windows, leftOut, cell.samples, cell.windows);
    part.samplesWanted = cell.samples - part.samplesLeftOut;
    return part;
}

std::int64_t samplesLeftOut(const RowCounts& committed)
{
    const std::int64_t counted
        = committed.samples + committed.filtered + committed.failed + committed.heldOut + committed.duplicates;
    return std::max<std::int64_t>(0, committed.rows - counted);
}

} // namespace furrow
