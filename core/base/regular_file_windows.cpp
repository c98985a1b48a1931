#include "core/base/regular_file.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

#include <algorithm>

namespace furrow {

Result<RegularFile> RegularFile::open(const std::filesystem::path& path, At at, Links links)
{
    const auto failed = [&] {
        return systemError(sentence("cannot write %1", { utf8Text(path) }), static_cast<int>(::GetLastError()));
    };
    const DWORD flags = FILE_ATTRIBUTE_NORMAL | (links == Links::AsThemselves ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    const HANDLE handle = ::CreateFileW(systemPath(path).c_str(), at == At::End ? FILE_APPEND_DATA : GENERIC_WRITE,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_ALWAYS, flags, nullptr);
    if (handle == INVALID_HANDLE_VALUE)
        return failed();
    RegularFile file(reinterpret_cast<std::intptr_t>(handle));
    FILE_BASIC_INFO facts {};
    if (::GetFileType(handle) != FILE_TYPE_DISK)
        return irregular(path);
    if (links == Links::AsThemselves && ::GetFileInformationByHandleEx(handle, FileBasicInfo, &facts, sizeof facts)
        && (facts.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0)
        return irregular(path);
    if (at == At::Nothing && !::SetEndOfFile(handle)) // not before it is known what it is
        return failed();
    return file;
}

RegularFile::~RegularFile()
{
    if (handle_ != -1)
        ::CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

std::size_t RegularFile::write(std::string_view bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        DWORD written = 0;
        const auto part = static_cast<DWORD>(std::min<std::size_t>(bytes.size() - done, 1U << 30));
        if (!::WriteFile(reinterpret_cast<HANDLE>(handle_), bytes.data() + done, part, &written, nullptr)
            || written == 0)
            break;
        done += written;
    }
    return done;
}

} // namespace furrow
