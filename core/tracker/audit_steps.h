#pragma once

#include "core/tracker/audit.h"

namespace furrow {

/// What became of the optimiser steps of a run.
struct StepsAudit {
    std::int64_t claims = 0; ///< looked at
    std::int64_t checkpoints = 0;
    std::vector<std::string> wrong; ///< the first kMaxAuditFindings, a sentence each
};

/// The steps that each worker process counted against the claims that it made them in, and the steps between two checkpoints against the parts that
/// the newer one added. The step of a checkpoint is in its manifest too, so all of it hangs on files. One read transaction.
Result<StepsAudit> auditSteps(const std::filesystem::path& tracker, const AuditWatch& watch = {});

} // namespace furrow
