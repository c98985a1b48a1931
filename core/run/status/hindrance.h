#pragma once

#include "core/run/status/run_status.h"
#include "core/run/status/viewpoint.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// What keeps a living run from going on; the first is the one to show where there is room for one sentence.
/// @param status  with its workers and what is known of its supervisor
/// @param incarnations  that the workers were made of
std::vector<Hindrance> whatHinders(const RunStatus& status, const LedgerReader::Totals& totals,
    const std::vector<IncarnationRow>& incarnations, const Viewpoint& view);

} // namespace furrow
