#pragma once

#include "core/base/message.h"
#include "core/base/told.h"

#include <filesystem>
#include <system_error>

namespace furrow {

/// What a person may not do with a file or folder.
enum class Access { Read, Write };

/// How it is told that a right is missing; the values are those of whyDenied().
inline constexpr SentenceText kDenied("permission denied; change the rights or choose another place");
inline constexpr SentenceText kDeniedToOwner(
    "permission denied: %1 is yours, and its rights keep you out; give them back (chmod -R u+rwX)");
inline constexpr SentenceText kDeniedToOthers(
    "permission denied: %1 belongs to %2 and is for the group %3, which you are not in; they or an administrator can add you; log in again afterwards");
inline constexpr SentenceText kMayNotEnter(
    "permission denied: the folder %1 belongs to %2, who can let a group enter it (chmod g+x)");
inline constexpr SentenceText kMayNotRead(
    "permission denied: %1 belongs to %2, who can let a group read it (chmod -R g+rX)");
inline constexpr SentenceText kMayNotWrite(
    "permission denied: %1 belongs to %2, who can let a group write it (chmod -R g+rwX); or choose another place");

/// What is said of weights that this user alone cannot read, where other ones could be given up.
inline constexpr SentenceText kOnlyRightsMissing(
    "Nothing is lost: the right to read it is all that is missing. Grant it, then resume.");

/// Why the system refused this user something, and who can change that: of the path, or of the folder above it that is
/// in the way.
Message whyDenied(const std::filesystem::path& path, Access wanted);

/// Why a place cannot be looked at, listed or opened: the words of the system, or whyDenied() to read it.
inline Message whyNot(const std::filesystem::path& path, const std::error_code& failed)
{
    return failed == std::errc::permission_denied ? whyDenied(path, Access::Read) : Message(failed.message());
}

/// Whether something failed for a missing right alone: nothing is damaged or lost then.
inline bool isForRights(const Message& failure)
{
    return tells(failure, { kDenied, kDeniedToOwner, kDeniedToOthers, kMayNotEnter, kMayNotRead, kMayNotWrite });
}

} // namespace furrow
