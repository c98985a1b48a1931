#pragma once

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace furrow {

/// The path from the root, without "." and "..". One that cannot be made absolute (an empty one, as of a variable that
/// is not set) stays what it is: whoever opens it says what is wrong with it.
inline std::filesystem::path absolutePath(const std::filesystem::path& path)
{
    std::error_code failed;
    const auto whole = std::filesystem::absolute(path, failed);
    return failed ? path : whole.lexically_normal();
}

/// Whether a path lies in a folder, or is it, by their names alone: both are absolute and without links.
inline bool isInside(const std::filesystem::path& path, const std::filesystem::path& folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

} // namespace furrow
