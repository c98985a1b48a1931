#pragma once

#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// Takes samples that were left out by name (NaN, overflow) from those that count as trained
/// (EpochRow::rowsCommitted), so that a status says what the audit says. A ledger that does not tell changes nothing.
void takeOutLeftOut(std::vector<EpochRow>& epochs, const LedgerReader& ledger);

/// How many they are: what is missing for the samples of committed chunks to add up to their rows.
std::int64_t samplesLeftOut(const RowCounts& committed);

} // namespace furrow
