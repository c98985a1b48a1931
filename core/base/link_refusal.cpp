#include "core/base/link_refusal.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

Status refuseLink(const std::filesystem::path& path)
{
    if (!isLink(path))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.",
            { utf8Text(path) }) };
}

Status refuseNoFolder(const std::filesystem::path& path)
{
    FURROW_TRY(refuseLink(path));
    std::error_code unknown;
    const auto there = std::filesystem::status(path, unknown);
    if (!std::filesystem::exists(there) || std::filesystem::is_directory(there))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 is not a folder, and a run keeps a folder there. Move away what has its name; nothing was changed.",
            { utf8Text(path) }) };
}

Status refuseSecondName(const std::filesystem::path& path)
{
    std::error_code absent;
    if (!std::filesystem::is_regular_file(path, absent) || std::filesystem::hard_link_count(path, absent) <= 1
        || absent)
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 has a second name elsewhere (a hard link, as 'cp -al' makes), and what Furrow writes would change the file of that name too. Nothing was changed. Make a copy of the run folder by 'cp -a --reflink=auto', and go on with the copy.",
            { utf8Text(path) }) };
}

} // namespace furrow
