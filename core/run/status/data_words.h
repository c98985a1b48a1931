#pragma once

#include "core/run/status/run_status.h"

#include <vector>

namespace furrow {

/// A count over the rows of the data, which every epoch has: of an epoch that is open perhaps not all is known yet.
std::int64_t rowsKnown(const std::vector<EpochRow>& epochs, std::int64_t RowCounts::* count);

/// What of the data is not as a person may take it to be, a sentence each: files that are left out, rows that cannot be
/// used, repeats that are trained, bytes that are no characters. Of the blocks that were prepared so far.
std::vector<Message> dataInWords(const RunStatus& status);

} // namespace furrow
