#pragma once

#include "ui/models/past_sources.h"

#include <cstdint>

namespace furrow {

/// The status of the run as it was at a moment [ns since 1970], of the epochs that were open then: chunks from the
/// moves of the ledger, steps and samples from the claims whose weights were there, losses and speeds of the living
/// from the telemetry, of the dead what they told last, RunStatus::goneHolds from what processes held that were gone by
/// then. What nobody kept (why an epoch stayed open or work was lost, what the feeder had read) is left empty.
RunStatus statusAt(std::int64_t wallNs, const PastSources& sources);

/// Of a status that is not of now: what it says of living processes holds no more.
void forgetTheLiving(RunStatus& status);

} // namespace furrow
