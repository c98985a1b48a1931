#pragma once

#include "core/base/told.h"

#include <string>

namespace furrow {

// How a local file is another one than the run was made of.

inline constexpr SentenceText kFileOfOtherSize("%1 has %2 bytes, had %3.");
inline constexpr SentenceText kFileOfOtherContent("%1 has other content than when the run was made.");
inline constexpr SentenceText kFileWrittenLater("%1 was written at %2, after the run was made (%3).");
inline constexpr SentenceText kFileWrittenMeanwhile("%1 was written to while the run reads it.");
inline constexpr SentenceText kFileRemoved("%1 was removed.");

/// Of which file one of these sentences speaks; "": it is another sentence.
inline std::string changedFile(const Message& why)
{
    for (const SentenceText how :
        { kFileOfOtherSize, kFileOfOtherContent, kFileWrittenLater, kFileWrittenMeanwhile, kFileRemoved })
        if (const auto values = valuesOf(why, how))
            return values->front();
    return {};
}

} // namespace furrow
