#pragma once

#include "core/base/message.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace furrow {

struct ShownEpochs;

/// Why the work of chunks is lost that LostChunks counts.
struct LostCauses {
    std::int64_t died = 0; ///< with the processes that had trained or begun them
    std::int64_t wentBack = 0; ///< the run went back to an older checkpoint
    std::int64_t damaged = 0; ///< a checkpoint that had them was damaged, gone or left out of a merge
    std::int64_t sum() const { return died + wentBack + damaged; }
};
/// By epoch, as the ledger has them now; where no work is lost there is none.
/// @param epochs  after countChunksApart()
/// @param lost  as that gave them
Result<std::map<std::int64_t, LostCauses>> lostCauses(
    const std::vector<EpochRow>& epochs, const std::vector<ChunkId>& lost, LedgerReader& ledger);
/// Of the epochs that views show as one.
LostCauses sumOf(const std::map<std::int64_t, LostCauses>& byEpoch, const ShownEpochs& shown);
/// Of trainings that are lost, whether they were done again since or not.
LostCauses lostCauses(std::span<const ClaimRow> trainings);

/// Those that there are, each with its number of chunks; nothing where no work is lost.
std::vector<Message> inWords(const LostCauses& causes);

} // namespace furrow
