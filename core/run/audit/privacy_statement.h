#pragma once

#include "core/config/run_config.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/participations.h"

namespace furrow {

/// What may be said of a run that trains with noise: the Gaussian mechanism, composed over the participations that the
/// ledger counted. Nothing is stated where the audit found something wrong, or where the history of claims was lost.
/// @param config  in force: of the newest attempt
PrivacyStatement privacyStatement(const RunConfig& config, const Participations& counted, const AuditReport& report);

/// What the files show is not as the ledger has it: nothing is stated any more.
void withhold(PrivacyStatement& statement);

} // namespace furrow
