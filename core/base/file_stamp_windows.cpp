#include "core/base/file_stamp.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

namespace furrow {

Result<FileStamp> stampOf(const std::filesystem::path& path)
{
    constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const auto failed = [&] { return systemError(sentence("cannot look at %1", { utf8Text(path) }), static_cast<int>(::GetLastError())); };
    const WindowsHandle file(::CreateFileW(systemPath(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    BY_HANDLE_FILE_INFORMATION facts {};
    FILE_BASIC_INFO times {};
    if (!file || !::GetFileInformationByHandle(file.get(), &facts) || !::GetFileInformationByHandleEx(file.get(), FileBasicInfo, &times, sizeof times))
        return failed();
    const auto joined = [](DWORD high, DWORD low) { return (static_cast<std::uint64_t>(high) << 32) | low; };
    return FileStamp { facts.dwVolumeSerialNumber, joined(facts.nFileIndexHigh, facts.nFileIndexLow), joined(facts.nFileSizeHigh, facts.nFileSizeLow),
        times.LastWriteTime.QuadPart * 100, times.ChangeTime.QuadPart * 100 };
}

} // namespace furrow
