#include "core/base/file_system.h"

#include "core/base/disk_room.h"
#include "core/base/fault_injection.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/synced_folder.h"
#include "core/base/sentence.h"
#include "core/base/sync_file.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace furrow {
namespace {

std::string systemText(int code)
{
    std::array<wchar_t, 512> text {};
    DWORD length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
        static_cast<DWORD>(code), 0, text.data(), static_cast<DWORD>(text.size()), nullptr);
    while (length > 0 && (text[length - 1] == L'\n' || text[length - 1] == L'\r' || text[length - 1] == L'.'))
        --length;
    return utf8Text(std::filesystem::path(std::wstring(text.data(), length))) + " (" + std::to_string(code) + ")";
}

Error lastError(const Message& failed) { return systemError(failed, static_cast<int>(::GetLastError())); }

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

} // namespace

Error systemError(const Message& failed, int code, Access wanted)
{
    const Message what = failed + ": ";
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_INVALID_DRIVE: return { ErrorCode::NotFound, what + sentence("it or its folder does not exist") };
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return { ErrorCode::Io, what + noRoomInWords({}) };
    case ERROR_ACCESS_DENIED: return { ErrorCode::Io, what + whyDenied({}, wanted) };
    case ERROR_WRITE_PROTECT: return { ErrorCode::Io, what + sentence("the disk is read-only; choose another place") };
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
        return { ErrorCode::Busy, what + sentence("another program has it open; close that program and try again") };
    case ERROR_NOT_SAME_DEVICE:
        return { ErrorCode::Io, what + sentence("the two places are on different disks; move it by hand") };
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return { ErrorCode::Io, what + sentence("the name is taken") };
    default: return { ErrorCode::Io, what + systemText(code) };
    }
}

namespace {

class RealOutputFile final : public OutputFile {
public:
    RealOutputFile(WindowsHandle file, std::filesystem::path path)
        : file_(std::move(file))
        , path_(std::move(path))
    {
    }

    Status append(const void* data, std::size_t sizeBytes) override
    {
        if (diskPretendsFull())
            return systemError(sentence("cannot write %1", { utf8Text(path_) }), ERROR_DISK_FULL);
        const char* from = static_cast<const char*>(data);
        while (sizeBytes > 0) {
            DWORD written = 0;
            const auto part = static_cast<DWORD>(std::min<std::size_t>(sizeBytes, 1U << 30));
            if (!::WriteFile(file_.get(), from, part, &written, nullptr))
                return lastError(sentence("cannot write %1", { utf8Text(path_) }));
            from += written;
            sizeBytes -= written;
        }
        return {};
    }

    Status sync() override
    {
        if (!::FlushFileBuffers(file_.get()))
            return lastError(sentence("cannot sync %1", { utf8Text(path_) }));
        return {};
    }

    Status close() override
    {
        file_.reset();
        return {};
    }

private:
    WindowsHandle file_;
    std::filesystem::path path_;
};

/// A virus scanner or indexer may hold a fresh file for a moment.
template <typename Move> DWORD retryWhileHeld(const Move& move)
{
    DWORD failed = 0;
    for (int attempt = 0; attempt < 20; ++attempt) {
        failed = move() ? 0 : ::GetLastError();
        if (failed != ERROR_SHARING_VIOLATION && failed != ERROR_ACCESS_DENIED)
            break;
        ::Sleep(10);
    }
    return failed;
}

/// Replaces a file that others hold open with FILE_SHARE_DELETE, as rename does elsewhere (Windows 10, NTFS).
bool replaceOpenFile(const std::wstring& from, const std::wstring& to)
{
    const WindowsHandle file(
        ::CreateFileW(from.c_str(), DELETE | SYNCHRONIZE, kShareAll, nullptr, OPEN_EXISTING, 0, nullptr));
    if (!file)
        return false;
    constexpr auto kFileRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
    constexpr DWORD kReplaceIfExists = 1;
    constexpr DWORD kPosixSemantics = 2;
    struct Header { // FILE_RENAME_INFO, whose first field is these flags
        DWORD flags;
        HANDLE root;
        DWORD nameBytes;
    };
    std::vector<std::byte> bytes(offsetof(FILE_RENAME_INFO, FileName) + (to.size() + 1) * sizeof(wchar_t));
    const Header header { kReplaceIfExists | kPosixSemantics, nullptr,
        static_cast<DWORD>(to.size() * sizeof(wchar_t)) };
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + offsetof(FILE_RENAME_INFO, FileName), to.c_str(), to.size() * sizeof(wchar_t));
    return ::SetFileInformationByHandle(file.get(), kFileRenameInfoEx, bytes.data(), static_cast<DWORD>(bytes.size()));
}

DWORD createFolderChain(const std::filesystem::path& path)
{
    if (::CreateDirectoryW(systemPath(path).c_str(), nullptr))
        return 0;
    const DWORD failed = ::GetLastError();
    if (failed == ERROR_ALREADY_EXISTS) {
        const DWORD facts = ::GetFileAttributesW(systemPath(path).c_str());
        return (facts & FILE_ATTRIBUTE_DIRECTORY) ? 0 : failed;
    }
    if (failed != ERROR_PATH_NOT_FOUND || !path.has_relative_path())
        return failed;
    const DWORD parentFailed = createFolderChain(path.parent_path());
    if (parentFailed != 0)
        return parentFailed;
    return ::CreateDirectoryW(systemPath(path).c_str(), nullptr) ? 0 : ::GetLastError();
}

DWORD removeTree(const std::filesystem::path& path)
{
    const std::wstring name = systemPath(path);
    const DWORD facts = ::GetFileAttributesW(name.c_str());
    if (facts == INVALID_FILE_ATTRIBUTES) {
        const DWORD failed = ::GetLastError();
        return failed == ERROR_FILE_NOT_FOUND || failed == ERROR_PATH_NOT_FOUND ? 0 : failed;
    }
    const bool isFolder = facts & FILE_ATTRIBUTE_DIRECTORY;
    if (isFolder && !(facts & FILE_ATTRIBUTE_REPARSE_POINT)) { // a link is removed, never followed
        WIN32_FIND_DATAW entry {};
        const HANDLE search = ::FindFirstFileW(systemPath(path / L"*").c_str(), &entry);
        for (BOOL more = search != INVALID_HANDLE_VALUE; more; more = ::FindNextFileW(search, &entry)) {
            const std::wstring child = entry.cFileName;
            const DWORD failed = child == L"." || child == L".." ? 0 : removeTree(path / child);
            if (failed != 0) {
                ::FindClose(search);
                return failed;
            }
        }
        ::FindClose(search);
    }
    if (facts & FILE_ATTRIBUTE_READONLY)
        ::SetFileAttributesW(name.c_str(), facts & ~static_cast<DWORD>(FILE_ATTRIBUTE_READONLY));
    return retryWhileHeld([&] { return isFolder ? ::RemoveDirectoryW(name.c_str()) : ::DeleteFileW(name.c_str()); });
}

class RealFileSystem final : public FileSystem {
public:
    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override
    {
        FURROW_TRY_ASSIGN(auto file, RegularFile::open(path, RegularFile::At::Nothing, Links::Follow));
        return std::unique_ptr<OutputFile>(
            std::make_unique<RealOutputFile>(WindowsHandle(reinterpret_cast<HANDLE>(file.release())), path));
    }

    Result<std::string> read(const std::filesystem::path& path) override { return readFile(path); }

    Status createFolders(const std::filesystem::path& path) override
    {
        std::error_code error;
        const DWORD failed = createFolderChain(std::filesystem::absolute(path, error).lexically_normal());
        if (failed != 0)
            return systemError(sentence("cannot create the folder %1", { utf8Text(path) }), static_cast<int>(failed));
        return {};
    }

    Status createFolder(const std::filesystem::path& path) override
    {
        if (::CreateDirectoryW(systemPath(path).c_str(), nullptr) || ::GetLastError() == ERROR_ALREADY_EXISTS)
            return {};
        return lastError(sentence("cannot create the folder %1", { utf8Text(path) }));
    }

    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        return moved(from, to, retryWhileHeld([&] {
            return ::MoveFileExW(systemPath(from).c_str(), systemPath(to).c_str(), MOVEFILE_WRITE_THROUGH);
        }));
    }

    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        const std::wstring fromName = systemPath(from);
        const std::wstring toName = systemPath(to);
        return moved(from, to, retryWhileHeld([&] {
            return replaceOpenFile(fromName, toName)
                || ::MoveFileExW(fromName.c_str(), toName.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
        }));
    }

    /// NTFS journals names and has no such call; moves are written through.
    Status syncFolder(const std::filesystem::path&) override { return {}; }

    Status removeAll(const std::filesystem::path& path) override
    {
        if (const DWORD failed = removeTree(path); failed != 0)
            return systemError(sentence("cannot remove %1", { utf8Text(path) }), static_cast<int>(failed));
        return {};
    }

private:
    static Status moved(const std::filesystem::path& from, const std::filesystem::path& to, DWORD failed)
    {
        if (failed != 0)
            return systemError(
                sentence("cannot rename %1 to %2", { utf8Text(from), utf8Text(to) }), static_cast<int>(failed));
        return {};
    }
};

} // namespace

FileSystem& realFileSystem()
{
    static RealFileSystem files;
    return files;
}

Status checkWritable(const std::filesystem::path&) { return {}; }
Status checkFileReadable(const std::filesystem::path&) { return {}; }
Status checkFileWritable(const std::filesystem::path&) { return {}; }
Status checkWritableByAny(const std::filesystem::path&) { return {}; }

bool isLink(const std::filesystem::path& path)
{
    const DWORD facts = ::GetFileAttributesW(systemPath(path).c_str());
    return facts != INVALID_FILE_ATTRIBUTES && (facts & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

Message unsafeForLedgerReason(const std::filesystem::path& path)
{
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    if (auto reason = syncedFolderReason(whole.empty() ? path : whole); !reason.empty())
        return reason;
    const std::wstring root = whole.root_path().wstring();
    if (root.starts_with(L"\\\\") || ::GetDriveTypeW(root.c_str()) == DRIVE_REMOTE)
        return sentence("it lies on a network drive, where locks do not hold");
    std::array<wchar_t, 64> kind {};
    ::GetVolumeInformationW(
        root.c_str(), nullptr, 0, nullptr, nullptr, nullptr, kind.data(), static_cast<DWORD>(kind.size()));
    const std::wstring name = kind.data();
    if (name.starts_with(L"FAT") || name == L"exFAT")
        return sentence("it lies on a FAT file system, which can lose a whole file when the power fails");
    return {};
}

Result<RandomAccessFile> RandomAccessFile::open(const std::filesystem::path& path) { return openWith(path, 0); }

Result<RandomAccessFile> RandomAccessFile::openOwn(const std::filesystem::path& path)
{
    auto file = openWith(path, FILE_FLAG_OPEN_REPARSE_POINT);
    BY_HANDLE_FILE_INFORMATION facts {};
    const bool isElsewhere = file.ok()
        && (!::GetFileInformationByHandle(reinterpret_cast<HANDLE>(file.value().handle_), &facts)
            || facts.nNumberOfLinks > 1 || (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0);
    if (isElsewhere)
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { utf8Text(path) }) + ": " + sentence("it is a link to a file elsewhere") };
    return file;
}

Result<RandomAccessFile> RandomAccessFile::openWith(const std::filesystem::path& path, int flags)
{
    const std::wstring name = systemPath(path);
    const DWORD facts = ::GetFileAttributesW(name.c_str());
    if (facts != INVALID_FILE_ATTRIBUTES && (facts & FILE_ATTRIBUTE_DIRECTORY))
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { utf8Text(path) }) + ": " + sentence("it is a folder") };
    WindowsHandle handle(::CreateFileW(name.c_str(), GENERIC_READ, kShareAll, nullptr, OPEN_EXISTING,
        FILE_ATTRIBUTE_NORMAL | static_cast<DWORD>(flags), nullptr));
    if (!handle)
        return lastError(sentence("cannot read %1", { utf8Text(path) }));
    if (::GetFileType(handle.get()) != FILE_TYPE_DISK)
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { utf8Text(path) }) + ": " + sentence("it is not a regular file") };
    LARGE_INTEGER size {};
    if (!::GetFileSizeEx(handle.get(), &size))
        return lastError(sentence("cannot read %1", { utf8Text(path) }));
    RandomAccessFile file;
    file.handle_ = reinterpret_cast<std::intptr_t>(handle.release());
    file.sizeBytes_ = static_cast<std::uint64_t>(size.QuadPart);
    file.name_ = utf8Text(path);
    return file;
}

RandomAccessFile::~RandomAccessFile()
{
    if (handle_ != -1)
        ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

Status RandomAccessFile::readAt(std::uint64_t offset, std::span<std::byte> into) const
{
    while (!into.empty()) {
        OVERLAPPED place {}; // an explicit offset: threads do not share a file pointer
        place.Offset = static_cast<DWORD>(offset);
        place.OffsetHigh = static_cast<DWORD>(offset >> 32);
        DWORD got = 0;
        const auto part = static_cast<DWORD>(std::min<std::size_t>(into.size(), 1U << 30));
        const BOOL read = ::ReadFile(reinterpret_cast<HANDLE>(handle_), into.data(), part, &got, &place);
        if (!read && ::GetLastError() != ERROR_HANDLE_EOF)
            return lastError(sentence("cannot read %1", { name_ }));
        if (!read || got == 0)
            return Error { ErrorCode::Corrupt,
                sentence("%1 ends at byte %2, before what should be read; it was cut short",
                    { name_, std::to_string(offset) }) };
        offset += got;
        into = into.subspan(got);
    }
    return {};
}

Status syncFile(const std::filesystem::path& path)
{
    const WindowsHandle file(::CreateFileW(
        systemPath(path).c_str(), GENERIC_WRITE, kShareAll, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file || !::FlushFileBuffers(file.get()))
        return lastError(sentence("cannot sync %1", { utf8Text(path) }));
    return {};
}

} // namespace furrow
