#pragma once

#include "core/base/process.h"
#include "core/base/result.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/feeder_ledger.h"

namespace furrow {

inline constexpr double kRetrySeconds = 5; ///< between two tries of what failed

/// Waits before the next try and says so in the ledger, second by second: "<why>. Trying again in 4 s."
/// @param why  a sentence with or without its full stop
/// @return false: asked to stop
bool waitAloud(FeederLedger& ledger, const Message& why, double seconds, const StopRequest& stop);

/// The same for data that cannot be reached, with since when: from the first wait after dataCame(). A reason is logged
/// when it is another one than before.
bool waitForDataAloud(FeederLedger& ledger, const Message& why, double seconds, const StopRequest& stop);
void dataCame(); ///< some could be read again; any thread

/// From now on the hub client of this process tries for ever, and waits between two tries aloud: why and how long stand
/// in the ledger as what the feeder does, renewed each second. It gives up (Cancelled) within a second of a stop.
/// @param transfers  at once, at most
Status waitForTheHubAloud(const RunPaths& paths, int transfers, const StopRequest& stop);

/// From now on a wait of this process for the lock of a cache stands in the ledger as what the feeder does, with who
/// holds it; and nothing in a cache is written or removed any more once something of the run was replaced.
Status useTheCacheWithCare(const RunPaths& paths, std::shared_ptr<const RunFolderGuard> guard);

} // namespace furrow
