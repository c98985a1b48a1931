#pragma once

#include "core/base/message.h"
#include "core/base/file_system.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// What lies in checkpoints/ without a row of the tracker that would account for it, by name.
struct StrayCheckpoints {
    /// A manifest of this run that the tracker does not know: it is older than the weights.
    struct Newer {
        std::filesystem::path path; ///< the folder of the checkpoint, or removed/<folder>.json when its weights went
        std::string folder;
        std::int64_t step = 0;
        std::int64_t writtenWallNs = 0;
    };
    std::vector<Newer> newer; ///< by time
    std::vector<std::filesystem::path> leftovers; ///< begun by processes of this run that are gone, and never finished
    /// Finished by such a process. It died before it could commit them, or before its note went and an older tracker
    /// was put back since: nobody can tell.
    std::vector<std::filesystem::path> finished;
    std::vector<std::string> notes; ///< of those, and of checkpoints that were committed after all
    std::vector<std::filesystem::path> unknown; ///< everything else
    std::vector<std::filesystem::path> links; ///< not looked into
};
using CheckpointRows = std::vector<SupervisorLedger::CheckpointRow>;
/// Looks and changes nothing. Fails with the reason when something cannot be read: then nobody knows whose it is. The
/// run may be in training: `rowsNow` is asked for the rows of the tracker after the folders were listed, so that what
/// is there and has no row is nothing that was committed meanwhile.
Result<StrayCheckpoints> findStrays(
    const RunPaths& paths, const std::string& runId, const std::function<Result<CheckpointRows>()>& rowsNow);

/// Newest attempt of which a worker left telemetry; 0: none. Fails when the folder is there and cannot be listed.
Result<std::int64_t> newestAttemptOnDisk(const RunPaths& paths);
/// Why the tracker is older than the snapshot of the run that was published from it, than the telemetry, or than what a
/// person left out: no checkpoint came of what it does not know. "": it is not, or nothing tells.
Result<Message> olderThanItsRecords(const RunPaths& paths, const std::string& runId, LedgerReader& tracker);
/// Tracker and weights side by side, or tracker and snapshot, when the tracker is older; else "".
/// @param rows  of the tracker
Result<Message> olderTrackerText(const RunPaths& paths, const std::string& runId, const StrayCheckpoints& strays,
    const CheckpointRows& rows, LedgerReader& tracker);
/// The same asked of a run, with what to do on the command line. "": it is not older, or (see trackerDamage) not to be
/// read.
Result<Message> olderTrackerProblem(const RunPaths& paths, const std::string& runId);
/// That with what a resume that accepts the loss would go on from (acceptedLoss()): for who asks once, since it reads
/// weights.
Result<Message> olderTrackerInFull(const RunPaths& paths, const std::string& runId);
/// Corrupt, with that problem in full: a tracker that is older than the weights does not know what is trained, so a
/// person can decide nothing by it.
Status refuseOlderTracker(const RunPaths& paths, const std::string& runId);

/// Moves these into checkpoints/unknown/, which keeps them for good. Returns what was done, in a sentence; "": there
/// was nothing.
Result<Message> putAside(
    const RunPaths& paths, const std::vector<std::filesystem::path>& entries, FileSystem& files = realFileSystem());
/// Removes the files that Furrow wrote into this folder of a checkpoint, and the folder when nothing else is in it;
/// else it is put aside. Returns that in a sentence; "": nothing was left.
Result<Message> removeOwnFiles(
    const RunPaths& paths, const std::filesystem::path& folder, FileSystem& files = realFileSystem());
/// What a tracker that was made anew does not take in, newer ones too.
Result<Message> putAsideWithoutRow(
    const RunPaths& paths, const std::string& runId, const CheckpointRows& rows, FileSystem& files = realFileSystem());

} // namespace furrow
