// flock, not fcntl: fcntl locks vanish when any descriptor of the file is closed in the process. O_CLOEXEC keeps
// a child from inheriting, and so outliving, the lock.
#include "core/base/file_lock.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
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

} // namespace

Result<FileLock> FileLock::tryLock(const std::filesystem::path& path)
{
    FileLock lock;
    lock.handle_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock.handle_ < 0)
        return systemError(sentence("cannot open the lock file %1", { utf8Text(path) }), errno);
    int failed = flockRetrying(static_cast<int>(lock.handle_), LOCK_EX | LOCK_NB);
    // isLocked() of another process holds a shared lock for microseconds; that is not an owner.
    for (int attempt = 0; failed == EWOULDBLOCK && attempt < 10; ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        failed = flockRetrying(static_cast<int>(lock.handle_), LOCK_EX | LOCK_NB);
    }
    if (failed == EWOULDBLOCK)
        return Error { ErrorCode::Busy, sentence("%1 is locked by another process", { utf8Text(path) }) };
    if (failed != 0)
        return systemError(sentence("cannot lock %1", { utf8Text(path) }), failed);
    return lock;
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
    const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return false;
    // A shared lock: two who ask at once do not see each other.
    const bool locked = flockRetrying(handle, LOCK_SH | LOCK_NB) == EWOULDBLOCK;
    ::close(handle);
    return locked;
}

} // namespace furrow
