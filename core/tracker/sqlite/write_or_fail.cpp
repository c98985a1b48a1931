#include "core/tracker/sqlite/write_or_fail.h"

#ifndef _WIN32

#include <sqlite3.h>

#include <fcntl.h>

#include <cerrno>
#include <string_view>

namespace furrow {

namespace {

using Open = int (*)(const char* path, int flags, int mode);
Open systemOpen = nullptr; // set once

int openForWriting(const char* path, int flags, int mode)
{
    const std::string_view name(path);
    if ((flags & O_ACCMODE) == O_RDONLY && (name.ends_with("-wal") || name.ends_with("-shm"))) {
        errno = EACCES;
        return -1;
    }
    return systemOpen(path, flags, mode);
}

} // namespace

void writeTrackersOrFail()
{
    [[maybe_unused]] static const bool once = [] {
        sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
        systemOpen = reinterpret_cast<Open>(vfs->xGetSystemCall(vfs, "open"));
        vfs->xSetSystemCall(vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(&openForWriting));
        return true;
    }();
}

} // namespace furrow

#else

namespace furrow {

void writeTrackersOrFail() { } // SQLite for Windows has one way to open them

} // namespace furrow

#endif
