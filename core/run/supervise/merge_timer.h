#pragma once

#include "core/config/run_config.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// Says when the next merge round is due: every `merge_tokens` tokens of the run, or, when that is 0, ten times an
/// epoch of known length, but never before each worker has done some hundred steps. Pure state machine, one thread.
class MergeTimer {
public:
    MergeTimer(const RunConfig& config, int workers, std::int64_t tokensNow);
    bool due(std::int64_t tokensNow, const EpochRow& epoch) const;
    void opened(std::int64_t tokensNow) { lastTokens_ = tokensNow; }

private:
    std::int64_t interval(std::int64_t tokensNow, const EpochRow& epoch) const;
    bool wanted_;
    std::int64_t mergeTokens_;
    std::int64_t leastTokens_; ///< between two merges, unless merge_tokens says otherwise
    std::int64_t lastTokens_;
};

} // namespace furrow
