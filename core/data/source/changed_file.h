#pragma once

#include "core/base/told.h"

#include <string>

namespace furrow {

// How a file is another one than the run was made of.

inline constexpr SentenceText kFileOfOtherSize("%1 has %2 bytes, had %3.");
inline constexpr SentenceText kFileOfOtherContent("%1 has other content than when the run was made.");
inline constexpr SentenceText kFileWrittenLater("%1 was written at %2, after the run was made (%3).");
inline constexpr SentenceText kFileWrittenMeanwhile("%1 was written to while the run reads it.");
inline constexpr SentenceText kFileRemoved("%1 was removed.");
// Of a server or a store.
inline constexpr SentenceText kFileOfOtherState(
    "%1 is another file now: its server calls it %2, before %3 (ETag or Last-Modified).");
inline constexpr SentenceText kFileOfOtherBytes("%1 is another file now: it has other bytes than it had (SHA-256).");

/// Of which file one of these sentences speaks; "": it is another sentence.
inline std::string changedFile(const Message& why)
{
    for (const SentenceText how : { kFileOfOtherSize, kFileOfOtherContent, kFileWrittenLater, kFileWrittenMeanwhile,
             kFileRemoved, kFileOfOtherState, kFileOfOtherBytes })
        if (const auto values = valuesOf(why, how))
            return values->front();
    return {};
}

} // namespace furrow
