#pragma once

#include "core/base/sentence.h"

namespace furrow {

// What the events of the run itself say, where somebody asks which it is. The audit counts by them.

inline constexpr SentenceText kEpochOpened("epoch %1 opened");
inline constexpr SentenceText kEpochOpenedAgain("epoch %1 opened again");
inline constexpr SentenceText kEpochComplete("epoch %1 is complete");
inline constexpr SentenceText kAnEpochComplete("an epoch is complete"); ///< of older ledgers, as is the next
inline constexpr SentenceText kEpochsComplete("%1 epochs are complete");
inline constexpr SentenceText kMergeRoundOpened("merge round %1 opened");
inline constexpr SentenceText kTakenForward("taken forward: %1 checkpoints with %2 parts were added from their files");
inline constexpr SentenceText kRebuilt("rebuilt: %1 checkpoints with %2 parts were added from their files");
inline constexpr SentenceText kCountedAnew("rebuilt: counters and totals were counted anew");
inline constexpr SentenceText kRunWaitsForData("the run waits for its data since %1: %2"); ///< a WallTime; why
inline constexpr SentenceText kRunHasDataAgain("the run has its data again");
inline constexpr SentenceText kNoProgressSince("Worker %1 made no progress since %2."); ///< its number; a WallTime
inline constexpr SentenceText kProgressAgain("worker %1 goes on");
inline constexpr SentenceText kDiskNearlyFull("Only %1 is free on the disk of this run; checkpoints need room.");
inline constexpr SentenceText kDiskHasRoomAgain("the disk of the run has room again");
inline constexpr SentenceText kCheckpointsAway( ///< their folder
    "%1 is not there (is its disk mounted?). What is trained cannot be kept, and no resume begins, until it is back.");
inline constexpr SentenceText kCheckpointsAreBack("the checkpoints are back");
inline constexpr SentenceText kCannotRemove( ///< the first of them; why
    "Checkpoints that are no longer needed cannot be removed, and stay on the disk. The first is %1: %2");
inline constexpr SentenceText kRemovesAgain("checkpoints that are no longer needed can be removed again");
inline constexpr SentenceText kCannotSave("Worker %1 cannot save what it trains, and tries again: %2"); ///< why
inline constexpr SentenceText kSavesAgain("worker %1 has saved what it trained");
inline constexpr SentenceText kRunWentBack("the run went back to %1"); ///< "checkpoint 27"
inline constexpr SentenceText kCheckpointDamaged("checkpoint %1 is damaged: %2"); ///< its number; why
/// The cause of chunks that are left out because their file is: of one epoch, the next one looks at the file anew.
inline constexpr SentenceText kLeftOutWithItsFile("left out with its file: %1");
/// Of chunks that are left out because their rows cannot be read: later epochs take that over.
inline constexpr SentenceText kLeftOutUnreadable("left out, for it cannot be read: %1");
/// Events of the run that begin so name rows of the data that no block will have.
inline constexpr const char* kLeftOutEvent = "left out: ";

} // namespace furrow
