#pragma once

#include "core/base/result.h"
#include "core/base/sentence.h"

#include <filesystem>

namespace furrow {

/// Of a disk that refuses: the file, what the system said.
inline constexpr SentenceText kIoFailed("%1: reading or writing failed (%2); check the disk");

/// Names who is in the way, where the system tells.
Error busyError(const std::filesystem::path& path);

/// @param said  by SQLite, which quotes names of a damaged file as they stand there
/// @param systemCode  errno of a call that failed; 0: not known
Error sqliteError(int code, const Message& said, const std::filesystem::path& path, int systemCode = 0);

} // namespace furrow
