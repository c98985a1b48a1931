#pragma once

#include "core/base/process.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// A process that locks bytes of a file by fcntl, as SQLite does.
struct ByteLock {
    std::int64_t pid = 0; ///< 0: of a place that this process cannot see (another container)
    std::string program; ///< "" when the system does not tell
    bool stopped = false; ///< by SIGSTOP, Ctrl+Z or a debugger: it does not let go by itself
    bool exclusive = false;
    std::uint64_t first = 0; ///< bytes of the file, both ends included
    std::uint64_t last = 0;
};

/// Who locks bytes of `file` now, this process too. Empty: nobody, or the system does not tell (only Linux does).
/// Never opens the file: closing it again would free the locks that this process has on it.
std::vector<ByteLock> byteLocks(const std::filesystem::path& file);

/// Whether other processes lock a byte of a file, seen from here or not. Keeps the file open for the life of this
/// process, for the reason that byteLocks() has; make few.
class ByteLockProbe {
public:
    explicit ByteLockProbe(const std::filesystem::path& file);
    /// True also where the system does not tell.
    bool mayBeLocked(std::uint64_t byte) const;

private:
    int handle_ = -1;
};

/// Who holds a FileLock.
struct FileLockOwner {
    ProcessIdentity process;
    std::vector<std::string> commandLine; ///< the program first; empty when the system does not tell
};
/// Of the lock on `file` now. Nothing: nobody, or the system does not tell (only Linux does, and not on every file
/// system).
std::optional<FileLockOwner> ownerOfFileLock(const std::filesystem::path& file);

} // namespace furrow
