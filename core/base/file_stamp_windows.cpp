#include "core/base/file_stamp.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

namespace furrow {

namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

std::uint64_t joined(DWORD high, DWORD low) { return (static_cast<std::uint64_t>(high) << 32) | low; }

} // namespace

Result<FileStamp> stampOf(const std::filesystem::path& path)
{
    const auto failed = [&] {
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), static_cast<int>(::GetLastError()));
    };
    const WindowsHandle file(::CreateFileW(systemPath(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr,
        OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    BY_HANDLE_FILE_INFORMATION facts {};
    FILE_BASIC_INFO times {};
    if (!file || !::GetFileInformationByHandle(file.get(), &facts)
        || !::GetFileInformationByHandleEx(file.get(), FileBasicInfo, &times, sizeof times))
        return failed();
    return FileStamp { facts.dwVolumeSerialNumber, joined(facts.nFileIndexHigh, facts.nFileIndexLow),
        joined(facts.nFileSizeHigh, facts.nFileSizeLow), times.LastWriteTime.QuadPart * 100,
        times.ChangeTime.QuadPart * 100 };
}

Result<std::optional<FileIdentity>> identityOf(const std::filesystem::path& path, Links links)
{
    const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (links == Links::AsThemselves ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    const WindowsHandle file(::CreateFileW(
        systemPath(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr, OPEN_EXISTING, flags, nullptr));
    BY_HANDLE_FILE_INFORMATION facts {};
    if (!file || !::GetFileInformationByHandle(file.get(), &facts)) {
        const DWORD failed = ::GetLastError();
        if (failed == ERROR_FILE_NOT_FOUND || failed == ERROR_PATH_NOT_FOUND)
            return std::optional<FileIdentity>();
        return systemError(sentence("cannot look at %1", { utf8Text(path) }), static_cast<int>(failed));
    }
    const bool isLink = (facts.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
    return std::optional(FileIdentity { facts.dwVolumeSerialNumber, joined(facts.nFileIndexHigh, facts.nFileIndexLow),
        0, isLink }); // the index counts its own reuse
}

} // namespace furrow
