#pragma once

#include "ui/models/past_sources.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace furrow {

/// The processes that had begun by a moment, as the ledger knew them then: of one that died with its supervisor, and
/// was found dead by the next attempt, no end until that began.
/// @param sources  without epochs
std::vector<IncarnationRow> processesAt(std::int64_t wallNs, const PastSources& sources);

/// Whether an attempt went on at a moment: of one that left no record, until the last thing that is known of it.
/// @param sources  without epochs
bool isLiveAt(std::int64_t wallNs, const PastSources& sources);

/// When the attempts that left no record were last heard of: what was found dead by the next one died then.
/// @param sources  without epochs
std::map<std::int64_t, std::int64_t> lastSigns(const PastSources& sources);

/// What became of an attempt by then; nothing: it goes on.
std::optional<std::int64_t> overBy(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources);

/// Which processes lived at a moment. Those that died with their supervisor lived no longer than their own attempt.
class Living {
public:
    Living(std::int64_t wallNs, const PastSources& sources);
    /// The one that holds, or held, a claim.
    bool has(const ClaimRow& claim) const;

private:
    std::vector<IncarnationRow> processes_;
    std::set<AttemptId> over_;
};

} // namespace furrow
