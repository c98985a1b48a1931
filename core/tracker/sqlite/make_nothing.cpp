#include "core/tracker/sqlite/make_nothing.h"

#ifndef _WIN32

#include <sqlite3.h>

#include <fcntl.h>

#include <string_view>

namespace furrow {

namespace {

using Open = int (*)(const char* path, int flags, int mode);
Open systemOpen = nullptr; // set once

thread_local bool makesNoWal = false;
thread_local bool makesNoIndex = false;

int openWhatIsThere(const char* path, int flags, int mode)
{
    const std::string_view name(path);
    if ((makesNoWal && name.ends_with("-wal")) || (makesNoIndex && name.ends_with("-shm")))
        flags &= ~O_CREAT;
    return systemOpen(path, flags, mode);
}

} // namespace

void MakeNothing::install()
{
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    systemOpen = reinterpret_cast<Open>(vfs->xGetSystemCall(vfs, "open"));
    vfs->xSetSystemCall(vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(&openWhatIsThere));
}

MakeNothing::MakeNothing(bool mayMakeIndex)
{
    makesNoWal = true;
    makesNoIndex = !mayMakeIndex;
}

MakeNothing::~MakeNothing() { makesNoWal = makesNoIndex = false; }

} // namespace furrow

#else

namespace furrow {

void MakeNothing::install() { }
MakeNothing::MakeNothing(bool) { }
MakeNothing::~MakeNothing() { }

} // namespace furrow

#endif
