#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// InvalidArgument when the name itself is a link: for what Furrow writes or deletes in a run folder, since whoever
/// sent the folder chose where it leads. The folders above it may be reached through links.
Status refuseLink(const std::filesystem::path& path);

/// The same, and when the name is of something else that is no folder: for where a run keeps one.
Status refuseNoFolder(const std::filesystem::path& path);

/// InvalidArgument when the file has another name too (a hard link): for what is written in place, where the file of
/// the other name would change with it.
Status refuseSecondName(const std::filesystem::path& path);

} // namespace furrow
