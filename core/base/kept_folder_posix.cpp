#include "core/base/kept_folder.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace furrow {

Result<KeptFolder> KeptFolder::open(const std::filesystem::path& path)
{
    const int handle = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), errno, Access::Read);
    KeptFolder folder(handle, {});
    FURROW_TRY_ASSIGN(const auto identity, identityOf("/proc/self/fd/" + std::to_string(handle), Links::Follow));
    folder.identity_ = identity.value_or(FileIdentity {});
    return folder;
}

KeptFolder::~KeptFolder()
{
    if (handle_ >= 0)
        ::close(handle_);
}

KeptFolder::KeptFolder(KeptFolder&& other) noexcept
    : handle_(std::exchange(other.handle_, -1))
    , identity_(other.identity_)
{
}

KeptFolder& KeptFolder::operator=(KeptFolder&& other) noexcept
{
    std::swap(handle_, other.handle_);
    identity_ = other.identity_;
    return *this;
}

/// The system tells where an open folder lies: by its new path, by the old one with a mark behind it, or, when its disk
/// was taken away, by one that leads nowhere or to something else.
KeptFolder::Whereabouts KeptFolder::whereabouts() const
{
    constexpr std::string_view kDeleted = " (deleted)";
    std::error_code unknown;
    const auto place = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(handle_), unknown);
    if (unknown)
        return {};
    const auto there = identityOf(place, Links::AsThemselves);
    if (there.ok() && there.value() == identity_)
        return { Fate::Moved, place };
    return { place.native().ends_with(kDeleted) ? Fate::Deleted : Fate::Unknown, {} };
}

} // namespace furrow
