// The system says EACCES and nothing else. Whose rights those are is found by asking it again of each folder on the
// way.
#include "core/base/denied.h"

#include "core/base/absolute_path.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <grp.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace furrow {

namespace {

bool may(const std::filesystem::path& path, int how)
{
    return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

/// The first folder on the way to the path that this user may not enter.
std::optional<std::filesystem::path> closedFolder(const std::filesystem::path& path)
{
    std::filesystem::path so;
    for (const auto& part : path.parent_path()) {
        so /= part;
        if (!may(so, X_OK))
            return errno == EACCES ? std::optional(so) : std::nullopt;
    }
    return std::nullopt;
}

/// What refuses: the path; where it is not there, or its name is what may not be changed, the folder above it.
std::filesystem::path refusingOne(std::filesystem::path path, Access wanted)
{
    std::error_code unknown;
    if (wanted == Access::Write && may(path, std::filesystem::is_directory(path, unknown) ? W_OK | X_OK : W_OK))
        path = path.parent_path();
    while (!std::filesystem::exists(std::filesystem::symlink_status(path, unknown)) && path.has_relative_path())
        path = path.parent_path();
    return path;
}

bool isInGroup(gid_t group)
{
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
    const int known = ::getgroups(static_cast<int>(groups.size()), groups.data());
    return group == ::getegid() || (known >= 0 && std::ranges::find(groups, group) != groups.end());
}

std::string nameOfGroup(gid_t group)
{
    constexpr std::size_t kMostEntryBytes = 16 << 10;
    std::array<char, kMostEntryBytes> buffer;
    ::group entry {};
    ::group* found = nullptr;
    const bool hasName = ::getgrgid_r(group, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return hasName ? entry.gr_name : std::to_string(group);
}

/// @param ofGroup  the right that is missing, as a group has it
/// @param toOwner  what the owner can do
Message refusedBy(const std::filesystem::path& path, mode_t ofGroup, SentenceText toOwner)
{
    constexpr unsigned kFromGroupToOwner = 3;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0)
        return sentence(kDenied);
    const auto owner = otherOwner(path);
    if (owner.empty()) {
        const bool isOwnersLack = ::geteuid() != 0 && (facts.st_mode & (ofGroup << kFromGroupToOwner)) == 0;
        return isOwnersLack ? sentence(kDeniedToOwner, { utf8Text(path) }) : sentence(kDenied);
    }
    if ((facts.st_mode & ofGroup) == 0)
        return sentence(toOwner, { utf8Text(path), owner });
    return isInGroup(facts.st_gid) ? sentence(kDenied) // of an attribute, a sticky bit or a list of rights
                                   : sentence(kDeniedToOthers, { utf8Text(path), owner, nameOfGroup(facts.st_gid) });
}

} // namespace

Message whyDenied(const std::filesystem::path& path, Access wanted)
{
    if (path.empty())
        return sentence(kDenied);
    const auto whole = absolutePath(path);
    if (const auto closed = closedFolder(whole))
        return refusedBy(*closed, S_IXGRP, kMayNotEnter);
    const auto refusing = refusingOne(whole, wanted);
    const bool isRead = wanted == Access::Read;
    std::error_code unknown;
    const bool isClosed = std::filesystem::is_directory(refusing, unknown) && !may(refusing, X_OK);
    if (may(refusing, isRead ? R_OK : W_OK)) // of a sticky bit, say, or of something beside it
        return isClosed ? refusedBy(refusing, S_IXGRP, kMayNotEnter) : sentence(kDenied);
    return isRead ? refusedBy(refusing, S_IRGRP, kMayNotRead) : refusedBy(refusing, S_IWGRP, kMayNotWrite);
}

} // namespace furrow
