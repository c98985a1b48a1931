#include "core/base/owner.h"
#include "core/base/sentence.h"

#include <array>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow {

namespace {

std::optional<uid_t> ownerOf(const std::filesystem::path& path)
{
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? std::optional(facts.st_uid) : std::nullopt;
}

/// By the number where the system knows no name, as of a user of another computer.
Message inWords(uid_t user)
{
    constexpr std::size_t kMostEntryBytes = 16 << 10;
    std::array<char, kMostEntryBytes> buffer;
    passwd entry {};
    passwd* found = nullptr;
    const bool hasName = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return sentence("user %1", { hasName ? std::string(entry.pw_name) : std::to_string(user) });
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

} // namespace furrow
