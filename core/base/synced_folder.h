#pragma once

#include "core/base/message.h"

#include <filesystem>
#include <string>

namespace furrow {

/// Why the name of `path` says that a service (OneDrive, Dropbox, iCloud, ...) synchronises it, or "".
Message syncedFolderReason(const std::filesystem::path& path);

} // namespace furrow
