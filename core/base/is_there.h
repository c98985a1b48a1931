#pragma once

#include <filesystem>
#include <system_error>

namespace furrow {

/// Whether something stands at a path. False, too, where nobody may look: who needs to tell the two apart asks the file
/// system itself.
inline bool isThere(const std::filesystem::path& path) noexcept
{
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
}

} // namespace furrow
