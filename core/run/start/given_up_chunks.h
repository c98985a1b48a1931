#pragma once

#include "core/run/start/resume_effect.h"

namespace furrow {

/// Of the chunks whose work is lost (ChunkFate::Lost) those that did not die with their weights: a checkpoint had them
/// and was given up.
struct GivenUpChunks {
    std::int64_t wentBack = 0; ///< by going back to an older one
    std::int64_t damaged = 0; ///< because it was damaged, gone or left out of a merge
    std::int64_t now = 0; ///< by what this resume goes on from (ResumeEffect::partsLost)
    std::int64_t sum() const { return wentBack + damaged + now; }
};
Result<GivenUpChunks> givenUpChunks(const ResumeEffect& effect, LedgerReader& reader);

} // namespace furrow
