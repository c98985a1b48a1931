#pragma once

#include "core/base/told.h"
#include "core/data/hub/hub_progress.h"

#include <cstdint>
#include <optional>

namespace furrow {

// What the feeder says that it does, where somebody asks which of it that is.

inline constexpr SentenceText kPreparingBlock("preparing block %1");
inline constexpr SentenceText kLookingForDuplicates("looking for duplicates: %1 of about %2");
inline constexpr SentenceText kDuplicatesNotFound("looking for duplicates: %1"); ///< why not
inline constexpr SentenceText kWaitingForData("waiting for the data: %1");
inline constexpr SentenceText kTryingAgain("%1. Trying again in %2 s.");
inline constexpr SentenceText kTryingAgainSince("%1. Waiting since %2, trying again in %3 s.");

/// It holds training up, and may for long.
inline bool isSlow(const Message& doing)
{
    return tells(doing, { kDownloading, kDownloadingOf, kLookingForDuplicates, kDuplicatesNotFound, kWaitingForData });
}

/// The block that it prepares; nothing: it does something else.
std::optional<std::int64_t> blockInPreparation(const Message& doing);

} // namespace furrow
