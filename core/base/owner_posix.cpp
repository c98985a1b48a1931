#include "core/base/owner.h"

#include "core/base/absolute_path.h"
#include "core/base/group_share.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow {

namespace {

std::optional<uid_t> ownerOf(const std::filesystem::path& path)
{
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::optional(facts.st_uid) : std::nullopt;
}

/// "" where the system knows none, as of a user of another computer.
std::string nameOf(uid_t user)
{
    constexpr std::size_t kMostEntryBytes = 16 << 10;
    std::array<char, kMostEntryBytes> buffer;
    passwd entry {};
    passwd* found = nullptr;
    const bool hasName = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return hasName ? entry.pw_name : "";
}

Message inWords(uid_t user)
{
    const auto name = nameOf(user);
    return sentence("user %1", { name.empty() ? std::to_string(user) : name });
}

/// For `sudo -u`, in a shell.
std::string asSudoTakesIt(uid_t user)
{
    const auto name = nameOf(user);
    return name.empty() ? "'#" + std::to_string(user) + "'" : name;
}

} // namespace

Message otherOwner(const std::filesystem::path& path)
{
    const auto owner = ownerOf(path);
    return owner && ::geteuid() != 0 && *owner != ::geteuid() ? inWords(*owner) : Message();
}

Message otherOwner(const ProcessIdentity& process)
{
    if (mayKill(process))
        return {};
    const auto owner = ownerOf("/proc/" + std::to_string(process.pid));
    return owner ? inWords(*owner) : sentence("another user");
}

Message ownerOfAnother(std::int64_t pid)
{
    const auto owner = pid > 0 ? ownerOf("/proc/" + std::to_string(pid)) : std::nullopt;
    return owner && *owner != ::geteuid() ? inWords(*owner) : Message();
}

Status refuseRootInFolderOf(const std::filesystem::path& folder)
{
    auto place = absolutePath(folder);
    while (!ownerOf(place) && place.has_relative_path()) // it is yet to be made there
        place = place.parent_path();
    const auto owner = ownerOf(place);
    const char* allowed = std::getenv("FURROW_AS_ROOT");
    if (!owner || *owner == 0 || ::geteuid() != 0 || (allowed != nullptr && std::string_view(allowed) == "1"))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 belongs to %2, who could not write what root makes there. Use `sudo -u %3 furrowctl ...`, or set FURROW_AS_ROOT=1 to do it as root all the same.",
            { utf8Text(place), inWords(*owner), asSudoTakesIt(*owner) }) };
}

void shareWithGroupOf(const std::filesystem::path& folder)
{
    if (mayGroupWrite(folder))
        ::umask(::umask(0) & ~static_cast<mode_t>(S_IRWXG));
}

} // namespace furrow
