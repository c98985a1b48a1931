#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"

#include <array>
#include <filesystem>

namespace furrow {

/// A database file and what SQLite writes beside it.
std::array<std::filesystem::path, 4> databaseFiles(const std::filesystem::path& path);

/// Something was written that is not in the main file yet.
bool isAnyInWal(const std::filesystem::path& path);

/// Gives a database another name, the file itself first: whenever this is cut short, what lies under the old name is
/// never a file without the commits of its WAL, which would be taken for a whole, older one.
Status moveDatabase(FileSystem& files, const std::filesystem::path& from, const std::filesystem::path& to);

/// InvalidArgument when one of them is a link (refuseLink): whoever reads a tracker makes a WAL too, beside the file
/// that a link leads to, in a folder that is not the run's.
Status refuseLinkedDatabase(const std::filesystem::path& path);

} // namespace furrow
