#pragma once

#include "core/base/stopwatch.h"
#include "core/trials/storm/storm_acts.h"
#include "core/trials/storm/storm_patience.h"

// The acts themselves, by what they harm, and what they share. For storm_acts.cpp.

namespace furrow::deeds {

// storm_processes.cpp
StormDeed killWorker(StormRun& run, Random& random);
StormDeed killFeeder(StormRun& run, Random& random);
StormDeed killSupervisor(StormRun& run, Random& random);
StormDeed killAll(StormRun& run, Random& random);
StormDeed killByHand(StormRun& run, Random& random);
StormDeed freezeWorker(StormRun& run, Random& random);
StormDeed freezeFeeder(StormRun& run, Random& random);
StormDeed freezeSupervisor(StormRun& run, Random& random);

// storm_wishes.cpp: what people ask for
StormDeed stopInOrder(StormRun& run, Random& random);
StormDeed pauseAndGoOn(StormRun& run, Random& random);
StormDeed changeWorkers(StormRun& run, Random& random);
StormDeed changeMerging(StormRun& run, Random& random);
StormDeed trainTogether(StormRun& run, Random& random);
StormDeed goBack(StormRun& run, Random& random);

// storm_tracker.cpp
StormDeed freezeWriter(StormRun& run, Random& random);
StormDeed freezeReader(StormRun& run, Random& random);
StormDeed foreignReader(StormRun& run, Random& random);
StormDeed foreignLock(StormRun& run, Random& random);
StormDeed failSqlite(StormRun& run, Random& random);
StormDeed jumpClock(StormRun& run, Random& random);
StormDeed olderVersion(StormRun& run, Random& random);

// storm_files.cpp
StormDeed fillDisk(StormRun& run, Random& random);
StormDeed damageCheckpoint(StormRun& run, Random& random);
StormDeed damageBlock(StormRun& run, Random& random);
StormDeed damageTelemetry(StormRun& run, Random& random);
StormDeed leaveDebris(StormRun& run, Random& random);
StormDeed takeCheckpointsAway(StormRun& run, Random& random);
StormDeed putOlderTrackerBack(StormRun& run, Random& random);

/// One of the workers, when there are any.
std::optional<ProcessIdentity> oneWorker(const StormRun& run, Random& random);
std::string named(const ProcessIdentity& process);
/// Regular files of a folder, sorted.
std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, const std::string& extension = {});

} // namespace furrow::deeds
