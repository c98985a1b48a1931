#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// Where Furrow keeps what belongs to this person and to no workspace: XDG_DATA_HOME/furrow, else
/// ~/.local/share/furrow (LOCALAPPDATA on Windows). It need not be there yet. NotFound where the environment names no
/// home.
Result<std::filesystem::path> userDataFolder();

} // namespace furrow
