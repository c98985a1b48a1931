#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/run/status/viewpoint.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// What processes that are gone hold. @param rows  of the run
Result<std::vector<ChunkCell>> heldByGone(
    LedgerReader& ledger, const std::vector<IncarnationRow>& rows, const Viewpoint& view);

/// What the state of a chunk alone does not tell, of every open epoch: work that died with its weights, what processes
/// hold that are gone, and what is trained in part.
/// @param goneHolds  by heldByGone()
/// @param isBegun  the run has had an attempt
/// @return the chunks that nobody holds and whose work is lost, ascending
Result<std::vector<ChunkId>> countChunksApart(
    std::vector<EpochRow>& epochs, const std::vector<ChunkCell>& goneHolds, bool isBegun, LedgerReader& ledger);

/// In words, of the epochs that are open: RunStatus::keepsEpochOpen. @param epochs  after countChunksApart()
std::vector<Message> whatKeepsOpen(const std::vector<EpochRow>& epochs);

} // namespace furrow
