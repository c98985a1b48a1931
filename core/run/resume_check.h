#pragma once

#include "core/run/run_file.h"
#include "core/run/run_paths.h"
#include "core/tracker/audit.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// What keeps a resume from beginning, whatever a person chooses: run.json or the tokenizer is not the one the run began with, a link or a trap in the
/// folder, a place where no tracker can lie, a tracker that is damaged. Reads only. The start of a run and its dry run both ask, so that they cannot
/// say different things.
/// @param reader  of the run's tracker
/// @param ledger  what the audit of that tracker said
Status checkResume(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const Result<AuditReport>& ledger);

} // namespace furrow
