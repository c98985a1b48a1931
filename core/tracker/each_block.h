#pragma once

#include "core/tracker/ledger_reader.h"

namespace furrow {

/// Calls `look(row)` for each block, ascending, until it returns an error. Each transaction is short: who writes waits
/// for no walk.
template <typename Look> Status forEachBlock(LedgerReader& ledger, LedgerReader::Blocks which, Look look)
{
    constexpr int kBlocksAtOnce = 500;
    for (std::int64_t last = -1;;) {
        FURROW_TRY_ASSIGN(const auto rows, ledger.blocksAfter(last, kBlocksAtOnce, which));
        if (rows.empty())
            return {};
        for (const LedgerReader::BlockRow& row : rows) {
            last = row.block;
            FURROW_TRY(look(row));
        }
    }
}

} // namespace furrow
