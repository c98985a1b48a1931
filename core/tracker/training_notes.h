#pragma once

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tracker/sqlite/patience.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace furrow {

/// What training must remember from one attempt to the next beside chunks and weights. Opaque to the tracker; kept in
/// its table `meta`.
struct TrainingNotes {
    std::string ratePlan; ///< as keepRatePlan() got it; "": none was kept
    std::map<std::int32_t, std::string> rollbacks; ///< by replica, as WorkerLedger::keepRollback() got them
    std::int64_t positionTokens = 0; ///< tokens committed or in flight: the place in the schedule of the next claim
    std::int64_t uncommittedTokens
        = 0; ///< of those that are in no checkpoint: claims of dead workers are taken back at a resume
};
Result<TrainingNotes> readTrainingNotes(const std::filesystem::path& tracker);

/// Windows that the surviving checkpoints hold, and those of them that were left out by name: their steps were not
/// finite. Looks at every part.
struct SkippedWindows {
    std::int64_t skipped = 0;
    std::int64_t all = 0;
    double share() const { return all > 0 ? static_cast<double>(skipped) / static_cast<double>(all) : 0; }
};
Result<SkippedWindows> skippedWindows(const std::filesystem::path& tracker);

/// What the seed of the noise needs beside the step: a number that is another one whenever a step that was made before
/// may be made again, on other windows. It counts the trainings whose weights were given up so far, in part or whole,
/// and those of checkpoints that do not survive (once a worker has registered, what its predecessor lost is among
/// them); a tracker that was made anew does not know them, so the time of that is in it too. Looks at every claim and
/// part.
Result<std::int64_t> noiseSalt(const std::filesystem::path& tracker);

/// Of a run that adds noise, how often a unit may take part at most, lost trainings included; 0: no limit. Kept for the
/// attempt that begins, as the plan of the rate is.
Status keepMostParticipations(const std::filesystem::path& tracker, std::int64_t most, Patience patience = {});

/// For a tracker that goes on as an older copy of itself: what was trained and lost since it was copied is not in its
/// history. noiseSalt() is another one from then on, and no participations are told.
Status keepHistoryLost(
    const std::filesystem::path& tracker, const Clock& clock = systemClock(), Patience patience = {});

/// Tokens that the position loses when these chunks are trained again.
Result<std::int64_t> tokensIn(const std::filesystem::path& tracker, std::span<const ChunkId> chunks);

/// Keeps an event of the run that only its supervisor knows of.
/// @param patience  with others that write, here and below; without it 30 s, and then Busy
Status noteRunEvent(const std::filesystem::path& tracker, const Message& what, const Clock& clock = systemClock(),
    Patience patience = {});

/// Keeps what the attempt that begins goes on without, each with an event of its own; none: what was kept of an attempt
/// before is forgotten.
Status keepGoesOnWithout(
    const std::filesystem::path& tracker, const std::vector<Message>& what, Patience patience = {});

/// Keeps the plan of the attempt that begins, and the event that tells of it ("": nothing to tell). With an event,
/// roll-backs are forgotten: a person has decided about the rate. Only for who holds the supervisor's lock of the run.
Status keepRatePlan(
    const std::filesystem::path& tracker, const std::string& plan, const Message& event, Patience patience = {});

} // namespace furrow
