#pragma once

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

} // namespace furrow
