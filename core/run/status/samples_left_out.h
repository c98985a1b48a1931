#pragma once

#include "core/tracker/ledger_reader.h"

#include <map>
#include <vector>

namespace furrow {

struct ShownEpochs;

/// What of an epoch counts as done and is in no weights: it was left out by name (NaN, overflow). Counted as the audit
/// counts it.
struct SkippedOfEpoch {
    std::int64_t samples = 0; ///< of committed chunks
    std::int64_t chunks = 0; ///< committed ones of which nothing was trained
    std::int64_t samplesOfPartly = 0; ///< of chunks that are partly trained (isPartlyTrained)
};
/// By epoch; a ledger that does not tell has none.
std::map<std::int64_t, SkippedOfEpoch> skippedByEpoch(LedgerReader& ledger);
/// Of the epochs that views show as one.
SkippedOfEpoch sumOf(const std::map<std::int64_t, SkippedOfEpoch>& byEpoch, const ShownEpochs& shown);

/// Takes these samples from those that count as trained (EpochRow::rowsCommitted), so that a status says what the audit
/// says. Those of chunks that are not committed countApart() takes.
/// @param byEpoch  skippedByEpoch()
void takeOutLeftOut(std::vector<EpochRow>& epochs, const std::map<std::int64_t, SkippedOfEpoch>& byEpoch);

/// What the weights have of one chunk.
struct TrainedPart {
    std::int64_t windows = 0; ///< in surviving checkpoints, without those that were left out
    std::int64_t windowsWanted = 0; ///< all but those that were left out
    std::int64_t samples = 0;
    std::int64_t samplesWanted = 0;
    std::int64_t samplesLeftOut = 0;
};
/// @param windowsLeftOut  SkippedChunk::windowsSkipped()
TrainedPart trainedPart(const ChunkCell& cell, std::int64_t windowsLeftOut);

/// How many samples of committed chunks they are: what is missing for these to add up to their rows.
std::int64_t samplesLeftOut(const RowCounts& committed);

} // namespace furrow
