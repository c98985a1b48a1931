#pragma once

#include "core/tracker/ledger_reader.h"

#include <optional>
#include <vector>

namespace furrow {

/// The epochs that "the epoch" of a run means to a person: all that are open, since the chunks of the next one are
/// claimed while the last ones of this one are in training (core/DECISIONS.md 4); the newest when none is open.
struct ShownEpochs {
    std::int64_t first = 0;
    std::int64_t last = 0;
    EpochRow together; ///< sums over them; `epoch` is the first
    std::int64_t count() const { return last - first + 1; }
    /// "epoch 2", "epochs 1 and 2", "epochs 1 to 3": counted from 1, in English
    std::string name() const;
};
/// Nothing where no epoch has begun. @param epochs  as LedgerReader::epochs() gives them
std::optional<ShownEpochs> shownEpochs(const std::vector<EpochRow>& epochs);
/// Adds a chunk to EpochRow::lost, EpochRow::partly or what is left out where it belongs to one of them. The state of
/// now and that of a past moment are both counted by this.
/// @param windowsSkipped  of it, left out by name, as their steps were not finite: they are in no weights
void countApart(EpochRow& epoch, const ChunkCell& cell, std::int64_t windowsSkipped);
/// The chunks of an epoch by state, each counted once: what countApart() counted is in EpochRow::lost or
/// EpochRow::partly alone.
ChunkCounts countedOnce(const EpochRow& epoch);
/// Those of them that are open, oldest first; the newest one when none is open.
std::vector<EpochRow> openEpochs(const std::vector<EpochRow>& epochs);

} // namespace furrow
