#include "core/base/owner.h"

#include "core/base/absolute_path.h"
#include "core/base/group_share.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <pwd.h>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

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

/// The numbers of a line of /proc/PID/status: "Uid:\t1000\t1000\t1000\t1000", "Groups:\t27 100". Empty: it is gone.
std::vector<std::uint64_t> statusOf(std::int64_t pid, std::string_view key)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key))
            continue;
        std::istringstream words(line.substr(key.size()));
        return { std::istream_iterator<std::uint64_t>(words), std::istream_iterator<std::uint64_t>() };
    }
    return {};
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

bool mayItsUserWrite(std::int64_t pid, const std::filesystem::path& path)
{
    const auto users = statusOf(pid, "Uid:"); // real, effective, saved, of files
    auto groups = statusOf(pid, "Gid:");
    struct stat facts {};
    if (users.size() < 2 || groups.size() < 2 || users[1] == 0 || ::stat(path.c_str(), &facts) != 0)
        return true;
    const auto others = statusOf(pid, "Groups:");
    groups.insert(groups.end(), others.begin(), others.end());
    if (users[1] == facts.st_uid)
        return (facts.st_mode & S_IWUSR) != 0;
    const bool isInGroup = std::ranges::find(groups, facts.st_gid) != groups.end();
    return (facts.st_mode & (isInGroup ? S_IWGRP : S_IWOTH)) != 0;
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
