#pragma once

#include "core/run/audit/run_audit.h"

namespace furrow::ctl {

/// auditRun with a line of progress on a terminal's stderr, where nothing that a program reads goes. Ctrl+C ends it
/// with Cancelled.
Result<AuditReport> auditWatched(const RunPaths& paths, AuditDepth depth);

} // namespace furrow::ctl
