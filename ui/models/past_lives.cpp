#include "ui/models/past_lives.h"

#include "core/tracker/worker_ends.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace furrow {

namespace {

constexpr std::int64_t kLastStepNs
    = 2'000'000'000; // what an attempt without a record may have gone on after the last thing that is known of it

/// When an attempt was over. One that left no record ended with what it did last; nothing: it goes on today.
/// @param wallNs  what the telemetry, which ends there, says of it counts too
std::optional<std::int64_t> endOf(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources)
{
    const bool newest = sources.tables->attempts.back().id == attempt.id;
    if (attempt.endedWallNs)
        return attempt.endedWallNs;
    const bool isPresent = newest && sources.now.attempt <= attempt.id.value; // the tables may be the older of the two
    if (isPresent && isUnderWay(sources.now.state))
        return std::nullopt;
    std::int64_t last = std::max(attempt.startedWallNs, attempt.lastSeenWallNs);
    if (newest)
        last = std::max(last, sources.now.endedWallNs);
    for (const ClaimRow& claim : sources.claims) {
        if (claim.attempt != attempt.id)
            continue;
        const bool trained = claim.outcome == ClaimEnd::Trained
            || claim.outcome == ClaimEnd::Committed; // other ends were written by the attempt behind it
        last = std::max({ last, claim.claimedWallNs, claim.startedWallNs, trained ? claim.endedWallNs : 0 });
    }
    for (const Stretch& stretch : sources.telemetry != nullptr ? sources.telemetry->stretches : std::vector<Stretch> {})
        if (stretch.attempt == attempt.id.value && stretch.size() > 0)
            last = std::max(last, std::min(wallNs, static_cast<std::int64_t>(stretch.wallEnd() * 1e9)));
    return last;
}

/// Whether it was known by then how a process had ended. What was found dead was seen last before, and found when the
/// next attempt began.
bool isEndTold(const IncarnationRow& row, std::int64_t wallNs, const std::vector<AttemptRow>& attempts)
{
    if (row.endedWallNs == 0 || row.endedWallNs > wallNs)
        return false;
    return !tells(row.endCause, { kFoundDead })
        || std::any_of(attempts.begin(), attempts.end(),
            [&](const AttemptRow& one) { return one.id > row.attempt && one.startedWallNs <= wallNs; });
}

} // namespace

std::vector<IncarnationRow> processesAt(std::int64_t wallNs, const PastSources& sources)
{
    std::vector<IncarnationRow> rows = sources.tables->incarnations;
    std::erase_if(rows, [wallNs](const IncarnationRow& row) { return row.startedWallNs > wallNs; });
    for (IncarnationRow& row : rows) {
        row.live = !isEndTold(row, wallNs, sources.tables->attempts);
        if (!row.live)
            continue;
        row.endedWallNs = 0;
        row.endCause = {};
    }
    return rows;
}

std::optional<std::int64_t> overBy(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources)
{
    const auto end = endOf(attempt, wallNs, sources);
    return end && *end + (attempt.endedWallNs ? 0 : kLastStepNs) <= wallNs ? end : std::nullopt;
}

Living::Living(std::int64_t wallNs, const PastSources& sources)
    : processes_(processesAt(wallNs, sources))
{
    for (const AttemptRow& attempt : sources.tables->attempts)
        if (overBy(attempt, wallNs, sources)) // looks at all claims, so once an attempt
            over_.insert(attempt.id);
}

bool Living::has(const ClaimRow& claim) const
{
    return !over_.contains(claim.attempt)
        && std::any_of(processes_.begin(), processes_.end(), [&](const IncarnationRow& row) {
               return row.worker == claim.worker && row.attempt == claim.attempt
                   && row.startedWallNs <= claim.claimedWallNs && row.live;
           });
}

bool isLiveAt(std::int64_t wallNs, const PastSources& sources)
{
    const auto& attempts = sources.tables->attempts;
    const auto later = std::find_if(
        attempts.begin(), attempts.end(), [wallNs](const AttemptRow& one) { return one.startedWallNs > wallNs; });
    return later != attempts.begin() && !overBy(*std::prev(later), wallNs, sources);
}

std::map<std::int64_t, std::int64_t> lastSigns(const PastSources& sources)
{
    std::map<std::int64_t, std::int64_t> signs;
    for (const AttemptRow& attempt : sources.tables->attempts)
        if (!attempt.endedWallNs)
            if (const auto end = endOf(attempt, std::numeric_limits<std::int64_t>::max(), sources))
                signs[attempt.id.value] = *end;
    return signs;
}

} // namespace furrow
