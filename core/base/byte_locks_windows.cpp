#include "core/base/byte_locks.h"
#include "core/base/lock_holder.h"

namespace furrow {

// Windows lets one find who has a file open, not who locks bytes of it: each process of a run has the tracker open.
std::vector<ByteLock> byteLocks(const std::filesystem::path&) { return {}; }

ByteLockProbe::ByteLockProbe(const std::filesystem::path&) { }

bool ByteLockProbe::mayBeLocked(std::uint64_t) const { return handle_ < 0; }

std::optional<FileLockOwner> ownerOfFileLock(const std::filesystem::path&) { return std::nullopt; }

std::optional<LockHolder> fileLockHolder(const std::filesystem::path&) { return std::nullopt; }

} // namespace furrow
