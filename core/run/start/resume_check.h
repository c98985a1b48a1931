#pragma once

#include "core/run/start/resume_choice.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/ledger_reader.h"

#include <functional>

namespace furrow {

/// What keeps a resume from beginning: it is running; run.json, the tokenizer or the held-out text is not the one the
/// run began with, a link or a trap in the folder, a folder where nothing can be written or no tracker can lie, a
/// tracker that is damaged; and, unless a person chose to accept the loss, one that is older than the weights, or
/// newest weights that cannot be read. Reads only. The start of a run and its dry run both ask, so that they cannot say
/// different things.
/// @param reader  of the run's tracker
/// @param auditLedger  audits that tracker. Asked last, and only where nothing else refuses: it takes seconds for a
/// million chunks
Status checkResume(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const ResumeChoice& choice,
    const std::function<Result<AuditReport>()>& auditLedger);

} // namespace furrow
