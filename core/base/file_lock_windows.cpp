// LockFileEx on one byte far behind the end, so that the file's content stays readable. Handles are not inherited.
#include "core/base/file_lock.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

namespace furrow {
namespace {

    WindowsHandle openFile(const std::filesystem::path& path, DWORD disposition)
    {
        return WindowsHandle(::CreateFileW(systemPath(path).c_str(), GENERIC_READ | GENERIC_WRITE,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, disposition, FILE_ATTRIBUTE_NORMAL,
            nullptr));
    }

    /// 0, or GetLastError().
    DWORD lockByte(HANDLE file, DWORD flags)
    {
        OVERLAPPED place {};
        place.OffsetHigh = 0x40000000;
        if (::LockFileEx(file, flags | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
            return 0;
        return ::GetLastError();
    }

    bool isTaken(DWORD failed)
    {
        return failed == ERROR_LOCK_VIOLATION || failed == ERROR_IO_PENDING;
    }

} // namespace

Result<FileLock> FileLock::tryLock(const std::filesystem::path& path)
{
    WindowsHandle file = openFile(path, OPEN_ALWAYS);
    if (!file)
        return systemError(sentence("cannot open the lock file %1", { utf8Text(path) }), static_cast<int>(::GetLastError()));
    DWORD failed = lockByte(file.get(), LOCKFILE_EXCLUSIVE_LOCK);
    // isLocked() of another process holds a shared lock for microseconds; that is not an owner.
    for (int attempt = 0; isTaken(failed) && attempt < 10; ++attempt) {
        ::Sleep(2);
        failed = lockByte(file.get(), LOCKFILE_EXCLUSIVE_LOCK);
    }
    if (isTaken(failed))
        return Error { ErrorCode::Busy, sentence("%1 is locked by another process", { utf8Text(path) }) };
    if (failed != 0)
        return systemError(sentence("cannot lock %1", { utf8Text(path) }), static_cast<int>(failed));
    FileLock lock;
    lock.handle_ = reinterpret_cast<std::intptr_t>(file.release());
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
    if (handle_ != -1)
        ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

bool isLocked(const std::filesystem::path& path)
{
    const WindowsHandle file = openFile(path, OPEN_EXISTING);
    return file && isTaken(lockByte(file.get(), 0)); // a shared lock, gone with the handle
}

} // namespace furrow
