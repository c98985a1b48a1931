#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// An exclusive lock of the operating system on a file, freed by the kernel when the holder dies. The file stays;
/// only the lock means something. Move-only.
class FileLock {
public:
    using Held = void;
    /// Takes the lock or fails with Busy within 20 ms. Creates the file when missing. Whoever removes the file holds
    /// the lock meanwhile: then no two have it.
    static Result<FileLock> tryLock(const std::filesystem::path& path);
    /// The same for a lock that processes of all users take, in a folder where anybody may make files. Whoever comes
    /// first makes the file; nobody needs a right to write to it. Only Busy means that somebody holds the lock; any
    /// other error says that nothing is known, and why. A link, a folder or a device of that name is refused.
    static Result<FileLock> tryLockForAll(const std::filesystem::path& path);
    FileLock(FileLock&&) noexcept;
    FileLock& operator=(FileLock&&) noexcept;
    ~FileLock();

private:
    FileLock() = default;
    /// Locks what handle_ is open on.
    Status take(const std::filesystem::path& path);
    std::intptr_t handle_ = -1;
};

/// True when some process holds the lock now. Never takes it for longer than the question.
bool isLocked(const std::filesystem::path& path);

/// Where locks lie that all users of this machine take; it exists. The same for every process, whatever TMPDIR says.
std::filesystem::path folderOfSharedLocks();

} // namespace furrow
