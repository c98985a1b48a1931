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
        sentence("%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.", { utf8Text(path) }) };
}

} // namespace furrow
