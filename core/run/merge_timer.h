#pragma once

#include "core/config/run_config.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// Says when the next merge round is due: every `merge_tokens` tokens of the run, or ten times an epoch when that is 0 and
/// the length of the epoch is known. Pure state machine, one thread.
class MergeTimer {
public:
    MergeTimer(const RunConfig& config, int workers, std::int64_t tokensNow);
    bool due(std::int64_t tokensNow, const EpochRow& epoch) const;
    void opened(std::int64_t tokensNow) { lastTokens_ = tokensNow; }

private:
    std::int64_t interval(std::int64_t tokensNow, const EpochRow& epoch) const;
    bool wanted_;
    std::int64_t mergeTokens_;
    std::int64_t lastTokens_;
};

} // namespace furrow
