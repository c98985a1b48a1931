#pragma once

#include "core/base/message.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace furrow {

/// A process that holds a lock on a file of ours.
struct LockHolder {
    std::int64_t pid = 0; ///< 0: of a place that cannot be seen from here
    std::string program; ///< "" when the system does not tell
    bool stopped = false; ///< by SIGSTOP, Ctrl+Z or a debugger
    Message user {}; ///< ownerOfAnother() of it
};

/// Who holds the FileLock on `file`; its program with the command, "furrowctl audit". Nothing: nobody, or the system
/// does not tell (only Linux does).
std::optional<LockHolder> fileLockHolder(const std::filesystem::path& file);

/// "process 4711 (sqlite3, stopped) of user ann".
Message inWords(const LockHolder& holder);

} // namespace furrow
