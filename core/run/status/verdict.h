#pragma once

#include "core/config/run_config.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"
#include "core/run/status/viewpoint.h"
#include "core/tracker/ledger_reader.h"

#include <optional>
#include <vector>

namespace furrow {

/// Evidence first, verdict from it: fills RunStatus::state, why it ended, evidence, hindrance and what is known of the
/// supervisor. @param status  with its workers
void deriveState(RunStatus& status, const RunPaths& paths, const LedgerReader::Totals& totals,
    const std::optional<AttemptRow>& attempt, const std::vector<IncarnationRow>& incarnations, const Viewpoint& view);

/// What was asked of a run that trains, and has not happened yet. @param config  in force now
void sayWhereItEnds(RunStatus& status, const RunConfig& config);

/// A person's word about the newest attempt, once nobody trains the run.
void applyFinishedMark(RunStatus& status, const RunPaths& paths);

} // namespace furrow
