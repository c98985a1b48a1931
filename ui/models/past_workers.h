#pragma once

#include "ui/models/past_sources.h"

#include <cstdint>

namespace furrow {

/// The workers of the attempt of that time, as far as the ledger knows them.
void takeProcessesBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

/// What the workers that lived had told by then.
void takeWorkersBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

/// What workers had trained of the chunks in their hands, as readStatus() counts it; takeClaimsBack() has the claims
/// that had ended.
void addWorkUnderWay(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

/// As readStatus() has it: of workers that had ended also whether the step that they told last was lost with them.
void takeLossBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

} // namespace furrow
