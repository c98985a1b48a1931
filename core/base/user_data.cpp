#include "core/base/user_data.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

#include <cstdlib>

namespace furrow {

namespace {

/// A folder that a variable names by its whole path; empty where it does not.
std::filesystem::path folderFrom(const char* variable)
{
    const char* value = std::getenv(variable);
    auto path = value ? pathFromUtf8(value) : std::filesystem::path();
    return path.is_absolute() ? path : std::filesystem::path();
}

} // namespace

Result<std::filesystem::path> userDataFolder()
{
#ifdef _WIN32
    auto data = folderFrom("LOCALAPPDATA");
#else
    auto data = folderFrom("XDG_DATA_HOME");
    if (const auto home = folderFrom("HOME"); data.empty() && !home.empty())
        data = home / ".local" / "share";
#endif
    if (data.empty())
        return Error { ErrorCode::NotFound,
            sentence("The environment names no home folder, so there is no place for what Furrow keeps. Set HOME.") };
    return data / "furrow";
}

} // namespace furrow
