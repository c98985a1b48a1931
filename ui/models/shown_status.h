#pragma once

#include "core/run/status/lost_trainings.h"
#include "ui/bridge/run_feed.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace furrow {

class Workbench;

/// The newest status of a run that cannot be read any more: nobody knows what became of its processes. @param readNs
/// when it was read
RunStatus lastKnownStatus(const RunStatus& last, std::int64_t readNs, const Message& problem);

/// What is known of the run now: of one that cannot be read any more, with lastKnownStatus(). Null: nothing was read
/// yet.
StatusPtr presentStatus(Workbench& bench);

/// What views of the epoch show: the present, what is known last of a run that cannot be read, or the moment that is
/// replayed. Null: nothing was read yet.
StatusPtr shownStatus(Workbench& bench);

/// Windows that are left out of chunks at the time that is shown, as their steps were not finite: by chunk, of all
/// epochs. The others have none.
std::map<ChunkId, std::int64_t> shownLeftOut(Workbench& bench);

/// Committed chunks, at the time that is shown, of which nothing is in the weights: no step of them was finite. Of all
/// epochs, ascending.
std::vector<ChunkId> shownUntrained(Workbench& bench);

/// How many they are in the epochs that are shown. @param shown  shownStatus()
std::int64_t shownUntrainedChunks(Workbench& bench, const RunStatus& shown);

/// When the run was active, as far as it was read.
std::vector<ActiveStretch> activeStretches(Workbench& bench);

/// What legends call "eval" of the status that is shown. Absent: the newest of the curve whose weights are there; NaN:
/// none of them are. While the run trains, workers may have evaluated what no checkpoint has yet.
std::optional<double> shownEvaluation(const StatusPtr& shown);

/// The trainings whose steps are in no weights, of the time that is shown. Absent: the claims were not read yet.
std::optional<std::vector<LostTraining>> shownLost(Workbench& bench, const RunStatus& shown);

} // namespace furrow
