#pragma once

#include "core/run/audit/audit_log.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

namespace furrow {

/// Sets the held-out text of a run aside from its data once more and holds heldout.bin against it: its hash is in
/// run.json and the tracker, where somebody may have changed it too. Where that cannot be done, the log is told what
/// was not inspected. Internal to the audit of a run.
/// @return whether it was compared
bool auditHeldOutAgain(const RunPaths& paths, const RunFile& file, AuditLog& log);

} // namespace furrow
