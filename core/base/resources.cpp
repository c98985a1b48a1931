#include "core/base/resources.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/process.h"

#include <algorithm>

namespace furrow {

Result<std::filesystem::path> resourcePath(std::string_view relative)
{
    const std::filesystem::path below = pathFromUtf8(relative);
    if (below.empty() || below.is_absolute() || below.has_root_path()
        || std::find(below.begin(), below.end(), "..") != below.end())
        return Error { ErrorCode::InvalidArgument, sentence("'%1' is not the name of a shipped file", { relative }) };
    const auto path = (executablePath().parent_path() / ".." / "share" / "furrow" / below).lexically_normal();
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return Error { ErrorCode::NotFound,
            sentence("The shipped file %1 is missing. Install or build Furrow again.", { utf8Text(path) }) };
    return path;
}

} // namespace furrow
