#pragma once

// windows.h without the macros that break C++, and what every *_windows.cpp of this folder needs. Not for others.
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace furrow {

/// A kernel handle that closes itself.
class WindowsHandle {
public:
    explicit WindowsHandle(HANDLE handle = nullptr)
        : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle)
    {
    }
    WindowsHandle(WindowsHandle&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    WindowsHandle& operator=(WindowsHandle&& other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~WindowsHandle() { reset(); }
    void reset()
    {
        if (handle_)
            ::CloseHandle(std::exchange(handle_, nullptr));
    }
    HANDLE get() const { return handle_; }
    HANDLE release() { return std::exchange(handle_, nullptr); }
    explicit operator bool() const { return handle_ != nullptr; }

private:
    HANDLE handle_;
};

inline std::wstring wideText(std::string_view utf8)
{
    return std::filesystem::path(std::u8string(utf8.begin(), utf8.end())).wstring();
}

/// The path as the system calls want it: absolute, and with \\?\ so that it may have more than 260 characters.
inline std::wstring systemPath(const std::filesystem::path& path)
{
    std::error_code error;
    std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (error)
        whole = path;
    const std::wstring text = whole.lexically_normal().make_preferred().wstring();
    if (text.size() < 240 || text.starts_with(L"\\\\?\\") || text.starts_with(L"\\\\.\\"))
        return text;
    return text.starts_with(L"\\\\") ? L"\\\\?\\UNC\\" + text.substr(2) : L"\\\\?\\" + text;
}

inline std::int64_t ticksOf(const FILETIME& time)
{
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime);
}

/// Name of the event that asks the process for a stop.
inline std::wstring stopEventName(std::int64_t pid, std::int64_t startTime)
{
    return L"Local\\furrow-stop-" + std::to_wstring(pid) + L"-" + std::to_wstring(startTime);
}

} // namespace furrow
