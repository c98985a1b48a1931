#include "core/base/scratch_folder.h"

#include "core/base/file_system.h"
#include "core/base/random.h"

#include <utility>

namespace furrow {

ScratchFolder::ScratchFolder(std::filesystem::path path)
    : path_(std::move(path))
{
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {}))
{
}

ScratchFolder::~ScratchFolder()
{
    if (!path_.empty())
        (void)realFileSystem().removeAll(path_);
}

Result<ScratchFolder> ScratchFolder::make(const std::filesystem::path& parent)
{
    std::error_code error;
    const auto path = std::filesystem::absolute(parent, error) / ("furrow-" + randomHex(16));
    FURROW_TRY(realFileSystem().createFolders(path));
    ScratchFolder made(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
    return made;
}

} // namespace furrow
