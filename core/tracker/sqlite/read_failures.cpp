#include "core/tracker/sqlite/read_failures.h"

#include "core/base/fault_injection.h"

#ifndef _WIN32

#include <sqlite3.h>

#include <sys/types.h>

#include <cerrno>
#include <utility>

namespace furrow {

namespace {

// Aligned so that the thread-locals of a program cannot lie across the end of a page: mold 1.10 (Debian 12) would begin
// the read-only part before its segment then, and the program would not start.
alignas(64) thread_local int newest = 0;

using Read = ssize_t (*)(int file, void* into, size_t bytes);
using ReadAt = ssize_t (*)(int file, void* into, size_t bytes, off_t offset);
using ReadAt64 = ssize_t (*)(int file, void* into, size_t bytes, off64_t offset);
Read systemRead = nullptr; // these are set once
ReadAt systemReadAt = nullptr;
ReadAt64 systemReadAt64 = nullptr;

template <typename Call> ssize_t noted(Call read)
{
    ssize_t got = -1;
    if (sqliteMayFail() && sqliteFault() == SqliteFault::Unread)
        errno = EIO; // where a storm asked for it
    else
        got = read();
    if (got < 0 && errno != EINTR)
        newest = errno;
    return got;
}

ssize_t readNoting(int file, void* into, size_t bytes)
{
    return noted([&] { return systemRead(file, into, bytes); });
}
ssize_t readAtNoting(int file, void* into, size_t bytes, off_t offset)
{
    return noted([&] { return systemReadAt(file, into, bytes, offset); });
}
ssize_t readAt64Noting(int file, void* into, size_t bytes, off64_t offset)
{
    return noted([&] { return systemReadAt64(file, into, bytes, offset); });
}

template <typename Call> void layOver(sqlite3_vfs* vfs, const char* name, Call& system, Call noting)
{
    system = reinterpret_cast<Call>(vfs->xGetSystemCall(vfs, name));
    if (system != nullptr) // else SQLite was built without it
        vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(noting));
}

} // namespace

void ReadFailures::install()
{
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    layOver(vfs, "read", systemRead, &readNoting);
    layOver(vfs, "pread", systemReadAt, &readAtNoting);
    layOver(vfs, "pread64", systemReadAt64, &readAt64Noting);
}

int ReadFailures::take() { return std::exchange(newest, 0); }

} // namespace furrow

#else

namespace furrow {

void ReadFailures::install() { }
int ReadFailures::take() { return 0; } // SQLite says there what it could not read

} // namespace furrow

#endif
