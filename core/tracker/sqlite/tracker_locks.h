#pragma once

#include "core/base/message.h"
#include "core/base/byte_locks.h"
#include "core/base/lock_holder.h"
#include "core/tracker/sqlite/patience.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// Who holds which lock of SQLite right now, so that a process in the way can be named. A healthy one holds them for
/// milliseconds.
struct TrackerLocks {
    bool told = false; ///< of a tracker that somebody has open: the system tells (only Linux does)
    std::optional<LockHolder> writer; ///< nobody else can write; a lock for reading does that too, and it takes only
                                      ///< the right to read the file
    std::optional<LockHolder> keeper; ///< nobody can take a WAL up that was left, nor move it, or open the file at all
    std::vector<LockHolder> readers; ///< the WAL cannot be used from its start again
};
TrackerLocks trackerLocks(const std::filesystem::path& tracker);

/// Who keeps everybody from opening the tracker or beginning to read it, as it has the file, or what is beside it, for
/// itself alone. A healthy process does that for an instant. Nothing: nobody, or the system does not tell.
std::optional<LockHolder> shutBy(const std::filesystem::path& tracker);

/// Waits for the lock of the tracker for as long as `goOn` says so, and names in the log, once, who holds it for longer
/// than a second. For who has no StallWatch.
Patience patienceAloud(std::filesystem::path tracker, std::function<bool()> goOn);

/// Whether anybody else has the tracker open, seen from here or not: who trains has. For a process that has it open.
class TrackerUsers {
public:
    explicit TrackerUsers(const std::filesystem::path& tracker);
    /// True also where the system does not tell.
    bool mayBeOthers() const;

private:
    ByteLockProbe probe_;
};

/// What a person should know about the WAL beside the tracker: how large it has grown and who keeps it from being used
/// from its start again.
/// "" while it has the size of healthy runs.
Message sayWhatKeepsTheWal(const std::filesystem::path& tracker);

} // namespace furrow
