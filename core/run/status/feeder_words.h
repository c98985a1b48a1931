#pragma once

#include "core/base/told.h"
#include "core/data/hub/hub_progress.h"

#include <cstdint>
#include <optional>

namespace furrow {

// What the feeder says that it does: how it is written, and how it is read again where somebody asks which of it that
// is.

inline constexpr SentenceText kPreparingBlock("preparing block %1");
inline constexpr SentenceText kLookingForDuplicates("looking for duplicates: %1 of about %2");
inline constexpr SentenceText kDuplicatesNotFound("looking for duplicates: %1"); ///< why not
inline constexpr SentenceText kWaitingForData("waiting for the data: %1");
inline constexpr SentenceText kFeederDoes("feeder: %1"); ///< among what keeps an epoch open
inline constexpr SentenceText kTryingAgain("%1. Trying again in %2 s.");
inline constexpr SentenceText kTryingAgainSince("%1. Waiting since %2, trying again in %3 s.");

/// It holds training up, and may for long.
inline bool isSlow(const Message& doing)
{
    return tells(doing, { kDownloading, kDownloadingOf, kLookingForDuplicates, kDuplicatesNotFound, kWaitingForData });
}

/// The block that it prepares; nothing: it does something else.
std::optional<std::int64_t> blockInPreparation(const Message& doing);

/// It cannot reach the data, and tries again for ever.
struct DataOutage {
    Message why; ///< with the file or address; a sentence
    std::int64_t sinceWallNs = 0; ///< 0: not known
    double nextTrySeconds = 0;
};
Message inWords(const DataOutage& outage);
/// Nothing: the feeder does something else. Of what lost its parts, as in a tracker of before version 6, all of it is
/// why.
std::optional<DataOutage> dataOutage(const Message& doing);
/// The same, where nobody asks for more.
bool isWaitingForData(const Message& doing);
/// The outage that an event of the run tells of (TroubleWatch); nothing: it tells of something else.
std::optional<DataOutage> recordedWait(const Message& event);

} // namespace furrow
