#pragma once

#include "core/base/told.h"

namespace furrow {

// How the end of a worker process is told where nothing went wrong with it. All other ends are deaths.

inline constexpr SentenceText kWorkerStopped("stopped");
/// The last of them, which need not be the last of the settings: a person may have asked to end with it.
inline constexpr SentenceText kWorkerSawEpochsEnd("no further epoch is to be trained");
inline constexpr SentenceText kWorkerSawEpochsEndBefore("the epochs are complete"); ///< the same, of older ledgers
inline constexpr SentenceText kWorkerSawRuleReached("a stopping rule is reached");
inline constexpr SentenceText kFirstRankEnded("rank 0 ended");
inline constexpr SentenceText kMergeDone("merged");
inline constexpr SentenceText kRunKilled("the run was killed");
/// Of an attempt that was interrupted, written by the next one: it was alive until then, or nobody knows when it ended.
inline constexpr SentenceText kSupervisorGone("its supervisor was gone");
inline constexpr SentenceText kFoundDead("its supervisor was gone; it was last seen at %1 and found dead at %2");

/// Whether a worker ended because its attempt wanted it to, or nobody kept how it ended.
inline bool isEndInOrder(const Message& endCause)
{
    return endCause.empty()
        || tells(endCause,
            { kWorkerStopped, kWorkerSawEpochsEnd, kWorkerSawEpochsEndBefore, kWorkerSawRuleReached, kFirstRankEnded,
                kMergeDone, kRunKilled });
}

/// Whether a worker ended because its attempt did, in order or not.
inline bool isEndOfAttempt(const Message& endCause)
{
    return isEndInOrder(endCause) || tells(endCause, { kSupervisorGone, kFoundDead });
}

} // namespace furrow
