#include "core/base/file_stamp.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace furrow {

namespace {

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

} // namespace

Result<FileStamp> stampOf(const std::filesystem::path& path)
{
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0)
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), errno, Access::Read);
    return FileStamp { facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
        nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim) };
}

Result<std::optional<FileIdentity>> identityOf(const std::filesystem::path& path, Links links)
{
    struct statx facts {};
    const int flags = AT_STATX_DONT_SYNC | (links == Links::AsThemselves ? AT_SYMLINK_NOFOLLOW : 0);
    if (::statx(AT_FDCWD, path.c_str(), flags, STATX_TYPE | STATX_INO | STATX_BTIME, &facts) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return std::optional<FileIdentity>();
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), errno, Access::Read);
    }
    const bool isBirthTold = (facts.stx_mask & STATX_BTIME) != 0;
    return std::optional(FileIdentity { makedev(facts.stx_dev_major, facts.stx_dev_minor), facts.stx_ino,
        isBirthTold ? facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec : 0, S_ISLNK(facts.stx_mode) });
}

} // namespace furrow
