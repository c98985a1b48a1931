#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace furrow {

/// What the system tells of a file without reading it. Two equal stamps of a path mean that nobody wrote to the file or
/// put another one in its place in between, as finely as the clock of the file system goes.
struct FileStamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t sizeBytes = 0;
    std::int64_t modifiedNs = 0; ///< of the content; programs can set it
    std::int64_t changedNs = 0; ///< of content, name or rights; no program can set it
    bool operator==(const FileStamp&) const = default;
};

/// NotFound or Io when the file cannot be looked at now. Any thread.
Result<FileStamp> stampOf(const std::filesystem::path& path);

/// Which file or folder has a name, whatever is in it: it stays the same when it is written to or renamed, and no other
/// one has it while it exists.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bornNs = 0; ///< a number that was free is given to the next file; 0 where the system does not tell
    bool isLink = false;
    bool operator==(const FileIdentity&) const = default;
};
enum class Links { Follow, AsThemselves };

/// Nothing: no such name. Io when it cannot be looked at now. Microseconds; any thread.
Result<std::optional<FileIdentity>> identityOf(const std::filesystem::path& path, Links links);

} // namespace furrow
