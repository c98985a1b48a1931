#pragma once

#include "core/base/process.h"
#include "core/run/folder/run_paths.h"

#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// Who holds the lock of the run, where the system tells.
struct RunHolder {
    ProcessIdentity process;
    std::string program; ///< its name
    bool isSupervisor = false; ///< by what it was started with
    bool isOurs = false; ///< a program of Furrow's that works on the run for a while, as a merge does, if no supervisor
};
std::optional<RunHolder> holderOf(const RunPaths& paths);
/// The words that a process was started with are those of a program of Furrow's. False when there are none.
bool isProgramOfFurrow(const std::vector<std::string>& words);

/// The run that is locked is held, not trained: by a stranger, or by a program of Furrow's that works on it.
bool isHeldByOther(const RunPaths& paths, const std::optional<RunHolder>& holder);
/// The supervisor has the lock and cannot be seen from here, perhaps because it is in another container.
bool isHeldByHidden(const RunPaths& paths);

/// Somebody has the run, and not a process that is ending alone: one that was killed frees its lock with its last
/// thread, a moment after it is seen to be dead. Waits two seconds for that at most.
bool staysHeld(const RunPaths& paths);

/// What cannot be done with a run that is held: who would train it too is told that it is "already" running.
enum class HeldFrom { Training, Moving };
/// Why nobody else can begin anything with the run, whose lock is held, and whether to stop what holds it, to wait for
/// it or to end it.
Error heldByAnother(const RunPaths& paths, HeldFrom from = HeldFrom::Training);

} // namespace furrow
