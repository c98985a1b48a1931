#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// An exclusive lock of the operating system on a file, freed by the kernel when the holder dies. The file stays;
/// only the lock means something. Move-only.
class FileLock {
public:
    /// Takes the lock or fails with Busy within 20 ms. Creates the file when missing.
    static Result<FileLock> tryLock(const std::filesystem::path& path);
    FileLock(FileLock&&) noexcept;
    FileLock& operator=(FileLock&&) noexcept;
    ~FileLock();

private:
    FileLock() = default;
    std::intptr_t handle_ = -1;
};

/// True when some process holds the lock now. Never takes it for longer than the question.
bool isLocked(const std::filesystem::path& path);

} // namespace furrow
