#pragma once

#include "core/tracker/epochs.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// How often units took part in steps, by the history of claims: once for each training that a window was part of.
/// Where a training ended without saying how far it came, all that it had claimed counts.
struct Participations {
    std::int64_t kept = 0; ///< of any unit at most, in surviving weights
    std::int64_t all = 0; ///< the same with trainings whose weights are lost
    std::int64_t lostTrainings = 0; ///< of chunks, begun and lost, in part or whole
    std::int64_t windows = 0; ///< of an epoch
    std::int64_t samples = 0; ///< the same
    bool isHistoryLost = false; ///< in part, and `all` is too little: LedgerReader::isMadeAnew()
};
/// Of a whole run: reads every claim and part. @param shownAs  what errors name in place of a copy
Result<Participations> participations(const std::filesystem::path& tracker, const std::filesystem::path& shownAs = {});

// Internal to core/tracker.

/// How often any window of the chunk that is still to be trained took part at most, in all epochs so far.
std::int64_t participationsBefore(Database& db, const ChunkRow& chunk);
/// Keeps how often any unit of a private run took part at most, now that a training of the chunk has begun, and the
/// event where it is more than before. What a training gives back later without having trained it stays counted here:
/// participations() is exact.
/// @param run  as it was before
void noteParticipation(LedgerFile& file, const RunState& run, ChunkId chunk);

/// Whether the chunk that would be claimed next has windows that may not take part once more; false without a limit.
bool isSpent(Database& db, const RunState& run);
bool isSpent(Database& db, const RunState& run, const ChunkRow& chunk);
/// Ends the run for that reason.
void stopForPrivacy(LedgerFile& file);

} // namespace furrow
