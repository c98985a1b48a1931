#include "core/base/file_stamp.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <sys/stat.h>

namespace furrow {

namespace {

    std::int64_t nanoseconds(const timespec& time)
    {
        return time.tv_sec * 1'000'000'000 + time.tv_nsec;
    }

} // namespace

Result<FileStamp> stampOf(const std::filesystem::path& path)
{
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0)
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), errno);
    return FileStamp { facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size), nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim) };
}

} // namespace furrow
