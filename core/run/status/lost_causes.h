#pragma once

#include "core/base/message.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// Why the work of chunks is lost that LostChunks counts.
struct LostCauses {
    std::int64_t died = 0; ///< with the processes that had trained or begun them
    std::int64_t wentBack = 0; ///< the run went back to an older checkpoint
    std::int64_t damaged = 0; ///< a checkpoint that had them was damaged, gone or left out of a merge
    std::int64_t sum() const { return died + wentBack + damaged; }
};
/// Of open epochs, as the ledger has them now. Where work is lost it reads their chunks and every part.
/// @param epochs  after countChunksApart()
Result<LostCauses> lostCauses(LedgerReader& ledger, const std::vector<EpochRow>& epochs);

/// Those that there are, each with its number of chunks; nothing where no work is lost.
std::vector<Message> inWords(const LostCauses& causes);

} // namespace furrow
