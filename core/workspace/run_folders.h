#pragma once

#include <filesystem>
#include <vector>

namespace furrow {

/// The folders below <workspace>/runs, and those in <workspace> itself, that hold a run, by name; others are passed
/// over. Empty: there are none, or they cannot be listed.
std::vector<std::filesystem::path> runFolders(const std::filesystem::path& workspace);

} // namespace furrow
