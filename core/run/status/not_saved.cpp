#include "core/run/status/not_saved.h"

#include "core/base/disk_room.h"
#include "core/base/path.h"
#include "core/base/room_for_tracker.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <filesystem>

namespace furrow {

void sayWhatIsAway(RunStatus& status, const RunPaths& paths)
{
    std::error_code unknown;
    if (status.checkpoints == 0 || std::filesystem::exists(paths.checkpointsFolder(), unknown) || unknown)
        return;
    status.checkpointsAway = sentence(kCheckpointsAway, { utf8Text(paths.checkpointsFolder()) });
    status.evidence.push_back(status.checkpointsAway);
}

/// Training goes on while nothing can be saved, and then waits: what is in no checkpoint grows. Looked at where
/// checkpoints go, for on a full disk nobody can write down why.
void sayWhatIsNotSaved(RunStatus& status, const RunPaths& paths, const RunConfig& config, const AttemptRow* attempt)
{
    constexpr double kLateSeconds = 120;
    if (status.state == RunState::New || status.state == RunState::Stopped || status.state == RunState::Finished)
        return;
    const auto sayFirst = [&status](Message what) { status.evidence.insert(status.evidence.begin(), std::move(what)); };
    const auto sayOfDisk = [&](const Message& words, const Message& whole) {
        if (status.supervised)
            status.hindrance = { words, whole };
        // Why a worker could not save is of when it tried: the room that it names is not the room of now.
        std::erase_if(status.evidence, [](const Message& line) { return valuesOf(line, kCannotSave).has_value(); });
        sayFirst(whole);
    };
    for (const auto& folder : { paths.folder(), paths.checkpointsFolder() }) {
        if (isOutOfFiles(folder))
            return sayOfDisk(sentence("its disk can hold no more files"),
                sentence(
                    "The disk of %1 can hold no more files (no inodes are left): nothing is saved until some are removed.",
                    { utf8Text(folder) }));
        std::error_code failed;
        const auto space = std::filesystem::space(folder, failed);
        if (failed || space.capacity == 0 || space.available >= kRoomForTracker)
            continue;
        return sayOfDisk(sentence("its disk is full"),
            sentence("The disk of %1 is full: nothing is saved until there is room.", { utf8Text(folder) }));
    }
    std::int64_t trained = 0;
    for (const EpochRow& epoch : status.epochs)
        trained += epoch.chunks[ChunkState::Trained];
    const std::int64_t since = std::max(status.newestCheckpointWallNs, attempt != nullptr ? attempt->startedWallNs : 0);
    const double late = static_cast<double>(nowOfRun(status) - since) / 1e9 - 2 * 60 * config.checkpointMinutes;
    if (status.state == RunState::Running && trained > 0 && late > kLateSeconds)
        sayFirst(sentence(
            "The newest checkpoint is of %1, though one is due every %2 minutes; the logs of the workers say why. %3 trained chunks are in none.",
            { WallTime(since), Real(config.checkpointMinutes, config.checkpointMinutes < 1 ? 2 : 1), Count(trained) }));
}

} // namespace furrow
