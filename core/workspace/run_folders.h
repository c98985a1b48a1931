#pragma once

#include <filesystem>
#include <vector>

namespace furrow {

/// The folders below <workspace>/runs that hold a run, by name. Empty: there are none, or they cannot be listed.
std::vector<std::filesystem::path> runFolders(const std::filesystem::path& workspace);

} // namespace furrow
