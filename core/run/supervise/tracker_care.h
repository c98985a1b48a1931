#pragma once

#include "core/base/clock.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

/// What the supervisor does with the tracker as a file: moves its WAL, which nobody else does (core/DECISIONS.md 20),
/// and publishes its snapshot. What fails is logged, and tried again. One thread; everything given outlives it.
class TrackerCare {
public:
    TrackerCare(const RunPaths& paths, SupervisorLedger& ledger, const RunFolderGuard& guard, const Clock& clock)
        : paths_(paths)
        , ledger_(ledger)
        , guard_(guard)
        , clock_(clock)
    {
    }

    void everySecond();
    /// Everything that was written is in the file afterwards.
    /// @param isReplaced  something else lies in the place of the run, or of its tracker
    void atTheEnd(bool isReplaced);

private:
    void shrinkWal();
    Status publishSnapshot();
    void saveWal();

    const RunPaths& paths_;
    SupervisorLedger& ledger_;
    const RunFolderGuard& guard_;
    const Clock& clock_;
    int secondsGrown_ = 0; ///< how long the WAL has been large without a break
    std::int64_t nextSnapshotNs_ = 0;
};

} // namespace furrow
