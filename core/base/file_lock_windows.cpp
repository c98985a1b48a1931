// LockFileEx on one byte far behind the end, so that the file's content stays readable. Handles are not inherited.
#include "core/base/file_lock.h"

#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

namespace furrow {
namespace {

WindowsHandle openFile(const std::filesystem::path& path, DWORD disposition,
    DWORD access = GENERIC_READ | GENERIC_WRITE, DWORD flags = FILE_ATTRIBUTE_NORMAL)
{
    return WindowsHandle(::CreateFileW(systemPath(path).c_str(), access,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, disposition, flags, nullptr));
}

/// Reading is right enough for LockFileEx, and all that users have on a file of another.
WindowsHandle openForAll(const std::filesystem::path& path)
{
    for (;;) {
        auto file = openFile(path, OPEN_EXISTING, GENERIC_READ, FILE_FLAG_OPEN_REPARSE_POINT);
        if (file || ::GetLastError() != ERROR_FILE_NOT_FOUND)
            return file;
        file = openFile(path, CREATE_NEW, GENERIC_READ);
        if (file || ::GetLastError() != ERROR_FILE_EXISTS)
            return file;
    }
}

bool isLink(HANDLE file)
{
    BY_HANDLE_FILE_INFORMATION facts {};
    return !::GetFileInformationByHandle(file, &facts) || (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
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

bool isTaken(DWORD failed) { return failed == ERROR_LOCK_VIOLATION || failed == ERROR_IO_PENDING; }

} // namespace

Result<FileLock> FileLock::tryLock(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(
        auto file, RegularFile::open(path, RegularFile::At::Beginning)); // LockFileEx wants more rights than to append
    FileLock lock;
    lock.handle_ = file.release();
    FURROW_TRY(lock.take(path));
    return lock;
}

Result<FileLock> FileLock::tryLockForAll(const std::filesystem::path& path)
{
    WindowsHandle file = openForAll(path);
    if (!file)
        return systemError(
            sentence("cannot open the lock file %1", { utf8Text(path) }), static_cast<int>(::GetLastError()));
    if (isLink(file.get()))
        return irregular(path);
    FileLock lock;
    lock.handle_ = reinterpret_cast<std::intptr_t>(file.release());
    FURROW_TRY(lock.take(path));
    return lock;
}

std::filesystem::path folderOfSharedLocks()
{
    // Every user may make files here, and read those of others.
    const wchar_t* common = ::_wgetenv(L"ProgramData");
    const auto folder = std::filesystem::path(common == nullptr ? L"C:\\ProgramData" : common) / L"Furrow" / L"locks";
    std::error_code exists;
    std::filesystem::create_directories(folder, exists);
    return folder;
}

Status FileLock::take(const std::filesystem::path& path)
{
    const HANDLE file = reinterpret_cast<HANDLE>(handle_);
    DWORD failed = lockByte(file, LOCKFILE_EXCLUSIVE_LOCK);
    // isLocked() of another process holds a shared lock for microseconds; that is not an owner.
    for (int attempt = 0; isTaken(failed) && attempt < 10; ++attempt) {
        ::Sleep(2);
        failed = lockByte(file, LOCKFILE_EXCLUSIVE_LOCK);
    }
    if (isTaken(failed))
        return Error { ErrorCode::Busy, sentence("%1 is locked by another process", { utf8Text(path) }) };
    if (failed != 0)
        return systemError(sentence("cannot lock %1", { utf8Text(path) }), static_cast<int>(failed));
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
    if (handle_ != -1)
        ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

bool isLocked(const std::filesystem::path& path)
{
    const WindowsHandle file = openFile(path, OPEN_EXISTING);
    return file && isTaken(lockByte(file.get(), 0)); // a shared lock, gone with the handle
}

} // namespace furrow
