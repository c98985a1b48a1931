#pragma once

#include "core/run/status/lost_trainings.h"
#include "ui/bridge/run_feed.h"
#include "ui/models/replay.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace furrow {

class Workbench;

/// Where a past status comes from.
struct PastSources {
    const RunStatus& now;
    struct Epoch {
        std::int64_t epoch = 0;
        std::vector<ChunkCell> cells; ///< at the moment (Replay::cellsOf)
    };
    std::vector<Epoch> epochs; ///< that were open then, else the newest
    const std::vector<Replay::Left>& left; ///< what left the weights later
    const std::vector<ClaimRow>& claims;
    const LedgerTables* tables = nullptr; ///< null: not read yet
    const TelemetrySnapshot* telemetry = nullptr; ///< up to the moment; null: none
    bool isPaused = false; ///< a person wished a pause then
};

/// The status of the run as it was at a moment [ns since 1970], of the epochs that were open then: chunks from the
/// moves of the ledger, steps and samples from the claims whose weights were there, losses and speeds of the living
/// from the telemetry, of the dead what they told last, RunStatus::goneHolds from what processes held that were gone by
/// then. What nobody kept (why an epoch stayed open or work was lost, what the feeder had read) is left empty.
RunStatus statusAt(std::int64_t wallNs, const PastSources& sources);

/// The processes that had begun by a moment, as the ledger knew them then: of one that died with its supervisor, and
/// was found dead by the next attempt, no end until that began.
/// @param sources  without epochs
std::vector<IncarnationRow> processesAt(std::int64_t wallNs, const PastSources& sources);

/// Whether an attempt went on at a moment: of one that left no record, until the last thing that is known of it.
/// @param sources  without epochs
bool isLiveAt(std::int64_t wallNs, const PastSources& sources);

/// When the attempts that left no record were last heard of: what was found dead by the next one died then.
/// @param sources  without epochs
std::map<std::int64_t, std::int64_t> lastSigns(const PastSources& sources);

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

/// What legends call "eval" of the status that is shown. Absent: the newest of the curve; NaN: that too, and its
/// weights are lost. While the run trains, workers may have evaluated what no checkpoint has yet.
std::optional<double> shownEvaluation(const StatusPtr& shown);
/// Whether its process died in the middle of a training: that ended then, and not when the process was seen last, as
/// the ledger has it.
inline bool isCutShort(const ClaimRow& claim) { return claim.outcome == ClaimEnd::Lost && claim.tokens == 0; }
/// Whether a training that the ledger has as lost had been lost by a moment already.
/// @param shown  statusAt() of the moment
/// @param sources  without epochs; like `shown` it outlives the answer
std::function<bool(const ClaimRow&)> lostBy(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources);
/// The trainings that had died with their processes by a moment, or left the weights: of earlier attempts, of one that
/// was over then, and of workers that had ended.
/// @param shown  statusAt() of the moment
/// @param sources  without epochs
std::vector<LostTraining> lostAt(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources);
/// The trainings whose steps are in no weights, of the time that is shown. Absent: the claims were not read yet.
std::optional<std::vector<LostTraining>> shownLost(Workbench& bench, const RunStatus& shown);

} // namespace furrow
