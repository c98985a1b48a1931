#include "core/base/host.h"

#include "core/base/check.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/terminal.h"
#include "core/base/windows_api.h"

#include <bcrypt.h>
#include <psapi.h>
#include <shellapi.h>
#include <winternl.h>

#include <array>

namespace furrow {
namespace {

/// The boot counter that Windows keeps for its prefetcher.
std::string bootCounter()
{
    DWORD count = 0;
    DWORD sizeBytes = sizeof count;
    const LSTATUS status = ::RegGetValueW(HKEY_LOCAL_MACHINE,
        L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters", L"BootId",
        RRF_RT_REG_DWORD, nullptr, &count, &sizeBytes);
    return status == ERROR_SUCCESS ? std::to_string(count) : std::string();
}

std::string machineGuid()
{
    std::array<wchar_t, 128> text {};
    DWORD sizeBytes = sizeof text;
    ::RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid",
        RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, nullptr, text.data(), &sizeBytes);
    return utf8Text(std::filesystem::path(text.data()));
}

/// Moment of the boot in 100 ns since 1601. It follows corrections of the wall clock, so it is second choice.
std::string bootMoment()
{
    struct {
        LARGE_INTEGER bootTime;
        std::array<std::byte, 40> rest;
    } facts {};
    constexpr auto kTimeOfDay = static_cast<SYSTEM_INFORMATION_CLASS>(3);
    ::NtQuerySystemInformation(kTimeOfDay, &facts, sizeof facts, nullptr);
    return std::to_string(facts.bootTime.QuadPart);
}

} // namespace

void host::randomBytes(void* into, std::size_t sizeBytes)
{
    FURROW_CHECK(BCRYPT_SUCCESS(::BCryptGenRandom(nullptr, static_cast<PUCHAR>(into), static_cast<ULONG>(sizeBytes),
                     BCRYPT_USE_SYSTEM_PREFERRED_RNG)),
        "the system has no random numbers");
}

std::string host::readBootId()
{
    const std::string counter = bootCounter();
    return machineGuid() + "-" + (counter.empty() ? bootMoment() : counter);
}

std::int64_t host::outOfMemoryKills()
{
    return 0; // Windows refuses memory, it kills nobody for it
}

std::string host::signalName(int) { return {}; }

std::vector<std::string> commandLineArguments(int, char**)
{
    int count = 0;
    LPWSTR* words = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    std::vector<std::string> arguments;
    for (int word = 1; word < count; ++word)
        arguments.push_back(utf8Text(std::filesystem::path(words[word])));
    ::LocalFree(words);
    return arguments;
}

std::filesystem::path executablePath()
{
    std::wstring text(512, L'\0');
    for (;;) {
        const DWORD length = ::GetModuleFileNameW(nullptr, text.data(), static_cast<DWORD>(text.size()));
        if (length < text.size()) {
            text.resize(length);
            return text;
        }
        text.resize(text.size() * 2);
    }
}

bool outputIsTerminal()
{
    DWORD mode = 0;
    return ::GetConsoleMode(::GetStdHandle(STD_OUTPUT_HANDLE), &mode) != 0;
}

bool errorsAreOnTerminal()
{
    DWORD mode = 0;
    return ::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode) != 0;
}

bool inputIsPipe() { return ::GetFileType(::GetStdHandle(STD_INPUT_HANDLE)) == FILE_TYPE_PIPE; }

int cpuCount() { return static_cast<int>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)); }

std::uint64_t physicalMemoryBytes()
{
    MEMORYSTATUSEX status {};
    status.dwLength = sizeof status;
    ::GlobalMemoryStatusEx(&status);
    return status.ullTotalPhys;
}

ProcessMemory processMemory()
{
    PROCESS_MEMORY_COUNTERS counters {};
    if (!::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters))
        return {};
    return { static_cast<std::int64_t>(counters.WorkingSetSize),
        static_cast<std::int64_t>(counters.PeakWorkingSetSize) };
}

} // namespace furrow
