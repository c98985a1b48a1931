#include "core/base/dead_link.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <system_error>

namespace furrow {

Message deadLinkOn(const std::filesystem::path& path)
{
    std::filesystem::path so;
    for (const auto& part : path) {
        so /= part;
        std::error_code unknown;
        const auto type = std::filesystem::status(so, unknown).type();
        if (type == std::filesystem::file_type::none || (type == std::filesystem::file_type::not_found && !isLink(so)))
            return {}; // nobody may look there, or there is no name yet
        if (type != std::filesystem::file_type::not_found)
            continue;
        return sentence("%1 is a link to %2, where nothing is; bring that back (mount its disk), or remove the link",
            { utf8Text(so), utf8Text(std::filesystem::read_symlink(so, unknown)) });
    }
    return {};
}

} // namespace furrow
