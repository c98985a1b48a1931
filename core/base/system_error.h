#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

/// Errors of the operating system as sentences that name the path and say what to do. Not for other folders.
namespace furrow {

/// @param action  what was tried, "write"
/// @param code    errno, or GetLastError() on Windows
Error systemError(const std::string& action, const std::filesystem::path& path, int code);

} // namespace furrow
