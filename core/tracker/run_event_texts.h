#pragma once

#include "core/base/sentence.h"

namespace furrow {

// What the events of the run itself say, where somebody asks which it is. The audit counts by them.

inline constexpr SentenceText kEpochOpened("epoch %1 opened");
inline constexpr SentenceText kEpochOpenedAgain("epoch %1 opened again");
inline constexpr SentenceText kEpochComplete("an epoch is complete");
inline constexpr SentenceText kEpochsComplete("%1 epochs are complete");
inline constexpr SentenceText kMergeRoundOpened("merge round %1 opened");
inline constexpr SentenceText kTakenForward("taken forward: %1 checkpoints with %2 parts were added from their files");
inline constexpr SentenceText kRebuilt("rebuilt: %1 checkpoints with %2 parts were added from their files");
inline constexpr SentenceText kCountedAnew("rebuilt: counters and totals were counted anew");
inline constexpr SentenceText kRunWaitsForData("the run waits for its data since %1: %2"); ///< a WallTime; why
inline constexpr SentenceText kRunHasDataAgain("the run has its data again");

} // namespace furrow
