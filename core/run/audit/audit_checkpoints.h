#pragma once

#include "core/run/audit/audit_log.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// The manifests behind the newest weights against the ledger, the files of the newest weights, and of
/// what else a resume takes (keptStates()), against their manifests, and checkpoints that the ledger does not know.
/// @param all  hashes every checkpoint that is there, not the newest ones only
Status auditCheckpoints(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, bool all, AuditLog& log);

} // namespace furrow
