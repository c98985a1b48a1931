#pragma once

#include "core/run/start/resume_effect.h"

namespace furrow {

/// Of the chunks whose work is lost (ChunkFate::Lost) those that did not die with their weights: a checkpoint had them
/// and was given up, by going back to an older one or by going on without it. Asks the ledger for each of them.
Result<std::int64_t> givenUpChunks(const ResumeEffect& effect, LedgerReader& reader);

} // namespace furrow
