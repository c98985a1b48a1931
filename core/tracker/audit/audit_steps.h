#pragma once

#include "core/tracker/audit/audit.h"
#include "core/tracker/audit/audit_claims.h"

namespace furrow {

/// The steps that each worker process counted against the claims that it made them in, and the steps between two
/// checkpoints against the parts that the newer one added. The step of a checkpoint is in its manifest too, so all of
/// it hangs on files. Internal to the audit.
StepsAudit checkSteps(Database& db, const KnownProcesses& processes, const AuditParts& parts);

} // namespace furrow
