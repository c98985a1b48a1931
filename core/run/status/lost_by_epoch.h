#pragma once

#include "core/tracker/ledger_reader.h"
#include "core/tracker/lost_causes.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

struct ShownEpochs;

/// By epoch, as the ledger has them now; where no work is lost there is none.
/// @param epochs  after countChunksApart()
/// @param lost  as that gave them
Result<std::map<std::int64_t, LostCauses>> lostCauses(
    const std::vector<EpochRow>& epochs, const std::vector<ChunkId>& lost, LedgerReader& ledger);
/// Of the epochs that views show as one.
LostCauses sumOf(const std::map<std::int64_t, LostCauses>& byEpoch, const ShownEpochs& shown);

} // namespace furrow
