#include "core/base/disk_room.h"

#include "core/base/process_limit.h"
#include "core/base/sentence.h"

#include <csignal>
#include <cstdint>
#include <sys/resource.h>
#include <sys/statvfs.h>

namespace furrow {

bool isOutOfFiles(const std::filesystem::path& path)
{
    struct statvfs room {};
    std::error_code failed;
    auto there = std::filesystem::absolute(path, failed);
    while (::statvfs(there.c_str(), &room) != 0) { // a file that could not be made
        if (!there.has_relative_path())
            return false;
        there = there.parent_path();
    }
    return room.f_files > 0 && room.f_favail == 0 && room.f_bavail > 0; // some file systems do not count files
}

Message noRoomInWords(const std::filesystem::path& path)
{
    return isOutOfFiles(path)
        ? sentence("its disk has room but can hold no more files (no inodes are left); remove some files and try again")
        : sentence("the disk is full; free some space and try again");
}

void makeFileSizeLimitAnError() { ::signal(SIGXFSZ, SIG_IGN); }

Message tooLargeInWords()
{
    rlimit limit {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return sentence(kLargerThanDisk);
    return sentence(kFileLimit, { Bytes(static_cast<std::uint64_t>(limit.rlim_cur)) });
}

} // namespace furrow
