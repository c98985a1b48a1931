#include "core/base/group_share.h"

#include "core/base/absolute_path.h"
#include "core/base/is_there.h"

#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow {

namespace {

struct SharedFolders {
    std::mutex mutex;
    std::map<std::filesystem::path, bool> all; ///< guarded by mutex; absolute, and whether it is shared
};

SharedFolders& sharedFolders()
{
    static SharedFolders folders;
    return folders;
}

bool isBelowShared(const std::filesystem::path& made)
{
    SharedFolders& folders = sharedFolders();
    const std::lock_guard guard(folders.mutex);
    if (folders.all.empty())
        return false;
    const auto whole = absolutePath(made);
    std::size_t nearest = 0; // a run may be for one alone in a workspace of several
    bool isShared = false;
    for (const auto& [folder, shared] : folders.all)
        if (folder.native().size() > nearest && isInside(whole, folder)) {
            nearest = folder.native().size();
            isShared = shared;
        }
    return isShared;
}

} // namespace

bool mayGroupWrite(const std::filesystem::path& folder)
{
    constexpr mode_t kForAll = S_ISVTX | S_IWOTH;
    struct stat facts {};
    return ::stat(folder.c_str(), &facts) == 0 && (facts.st_mode & S_IWGRP) != 0
        && (facts.st_mode & kForAll) != kForAll;
}

void shareBelow(const std::filesystem::path& folder)
{
    auto whole = absolutePath(folder);
    if (!whole.has_filename()) // it ends with a slash
        whole = whole.parent_path();
    const bool isShared = mayGroupWrite(folder);
    SharedFolders& folders = sharedFolders();
    const std::lock_guard guard(folders.mutex);
    if (isThere(folder))
        folders.all.insert_or_assign(whole, isShared);
    else // what is above it says
        folders.all.erase(whole);
}

void shareMade(std::intptr_t handle, const std::filesystem::path& made)
{
    struct stat facts {};
    if (!isBelowShared(made) || ::fstat(static_cast<int>(handle), &facts) != 0)
        return;
    const mode_t asOwner = S_ISDIR(facts.st_mode) ? S_IRWXG : S_IRGRP | S_IWGRP;
    if ((facts.st_mode & asOwner) != asOwner)
        (void)::fchmod(static_cast<int>(handle), (facts.st_mode & ~static_cast<mode_t>(S_IFMT)) | asOwner);
}

void shareMadeFolder(const std::filesystem::path& made)
{
    if (!isBelowShared(made))
        return;
    const int handle = ::open(made.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0)
        return;
    shareMade(handle, made);
    ::close(handle);
}

} // namespace furrow
