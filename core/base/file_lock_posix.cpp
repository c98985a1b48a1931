// flock, not fcntl: fcntl locks vanish when any descriptor of the file is closed in the process. O_CLOEXEC keeps
// a child from inheriting, and so outliving, the lock.
#include "core/base/file_lock.h"

#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace furrow {
namespace {

int flockRetrying(int handle, int operation)
{
    int failed = 0;
    do
        failed = ::flock(handle, operation) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed;
}

/// Reading is right enough for flock, and all that others have on a file of their neighbour. Without O_CREAT first: in
/// a folder with the sticky bit the system refuses it on files of others (fs.protected_regular). O_NONBLOCK: a named
/// pipe must not hang.
int openForAll(const std::filesystem::path& path)
{
    for (;;) {
        int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (handle >= 0 || errno != ENOENT)
            return handle;
        handle = ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (handle >= 0)
            ::fchmod(handle, 0644); // whatever the umask is: others must be able to open it
        if (handle >= 0 || errno != EEXIST)
            return handle;
    }
}

/// The file is still the one of that name: a lock on one that was cleaned away holds nobody off.
bool isStillThere(int handle, const std::filesystem::path& path)
{
    struct stat open {};
    struct stat named {};
    return ::fstat(handle, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino
        && open.st_dev == named.st_dev;
}

bool isRegular(int handle)
{
    struct stat facts {};
    return ::fstat(handle, &facts) == 0 && S_ISREG(facts.st_mode);
}

} // namespace

Result<FileLock> FileLock::tryLockForAll(const std::filesystem::path& path)
{
    for (;;) {
        FileLock lock;
        lock.handle_ = openForAll(path);
        const int failed = errno;
        if (lock.handle_ < 0 && failed != ELOOP)
            return systemError(sentence("cannot open the lock file %1", { utf8Text(path) }), failed);
        if (lock.handle_ < 0 || !isRegular(static_cast<int>(lock.handle_)))
            return irregular(path);
        FURROW_TRY(lock.take(path));
        if (isStillThere(static_cast<int>(lock.handle_), path))
            return lock;
    }
}

std::filesystem::path folderOfSharedLocks()
{
    // Nobody cleans /run/lock while the machine runs; where it is not for everybody, /tmp is.
    struct stat facts {};
    constexpr mode_t kForAll = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;
    return ::stat("/run/lock", &facts) == 0 && S_ISDIR(facts.st_mode) && (facts.st_mode & kForAll) == kForAll
        ? "/run/lock"
        : "/tmp";
}

Result<FileLock> FileLock::tryLock(const std::filesystem::path& path)
{
    constexpr int kTries = 100; // a file system may number its files anew each time it is asked
    for (int tries = 0;; ++tries) {
        FileLock lock;
        FURROW_TRY_ASSIGN(auto file, RegularFile::open(path, RegularFile::At::End));
        lock.handle_ = file.release();
        FURROW_TRY(lock.take(path));
        if (isStillThere(static_cast<int>(lock.handle_), path) || tries == kTries)
            return lock;
    }
}

Status FileLock::take(const std::filesystem::path& path)
{
    int failed = flockRetrying(static_cast<int>(handle_), LOCK_EX | LOCK_NB);
    // isLocked() of another process holds a shared lock for microseconds; that is not an owner.
    for (int attempt = 0; failed == EWOULDBLOCK && attempt < 10; ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        failed = flockRetrying(static_cast<int>(handle_), LOCK_EX | LOCK_NB);
    }
    if (failed == EWOULDBLOCK)
        return Error { ErrorCode::Busy, sentence("%1 is locked by another process", { utf8Text(path) }) };
    if (failed != 0)
        return systemError(sentence("cannot lock %1", { utf8Text(path) }), failed);
    return {};
}

FileLock::FileLock(FileLock&& other) noexcept
    : handle_(std::exchange(other.handle_, -1))
{
}

FileLock& FileLock::operator=(FileLock&& other) noexcept
{
    FileLock old(std::move(*this)); // freed here
    handle_ = std::exchange(other.handle_, -1);
    return *this;
}

FileLock::~FileLock()
{
    if (handle_ >= 0)
        ::close(static_cast<int>(handle_));
}

bool isLocked(const std::filesystem::path& path)
{
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a named pipe must not hang
    if (handle < 0)
        return false;
    // A shared lock: two who ask at once do not see each other.
    const bool locked = flockRetrying(handle, LOCK_SH | LOCK_NB) == EWOULDBLOCK;
    ::close(handle);
    return locked;
}

} // namespace furrow
