#include "core/base/fault_injection.h"

#include "core/base/process.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace furrow {

double faultNumber(const char* name, double otherwise, int index)
{
    const char* text = std::getenv(name);
    if (!text || !*text)
        return otherwise;
    for (const char* comma = std::strchr(text, ','); comma && index > 0; comma = std::strchr(text, ','), --index)
        text = comma + 1;
    return std::strtod(text, nullptr);
}

namespace {

/// Two words of the file that a variable names; empty without variable or file.
std::pair<std::string, std::string> wordsIn(const char* file)
{
    std::pair<std::string, std::string> words;
    if (file)
        std::ifstream(file) >> words.first >> words.second;
    return words;
}

std::int64_t nanoseconds(const std::string& seconds)
{
    return static_cast<std::int64_t>(std::strtod(seconds.c_str(), nullptr) * 1e9);
}

const char* sqliteFaultFile()
{
    static const char* const file = std::getenv("FURROW_SQLITE_FAULT");
    return file;
}

} // namespace

bool diskPretendsFull()
{
    static const char* const file = std::getenv("FURROW_DISK_FULL");
    std::error_code unknown;
    return file && std::filesystem::exists(file, unknown);
}

bool sqliteMayFail() { return sqliteFaultFile() != nullptr; }

SqliteFault sqliteFault()
{
    const auto kind = wordsIn(sqliteFaultFile()).first;
    return kind == "full"  ? SqliteFault::Full
        : kind == "write"  ? SqliteFault::Write
        : kind == "sync"   ? SqliteFault::Sync
        : kind == "read"   ? SqliteFault::Read
        : kind == "unread" ? SqliteFault::Unread
                           : SqliteFault::None;
}

ClockFault clockFault()
{
    static const char* const file = std::getenv("FURROW_CLOCK");
    if (!file) [[likely]]
        return {};
    const auto [wall, monotonic] = wordsIn(file);
    return { nanoseconds(wall), nanoseconds(monotonic) };
}

void freezeWhenAsked(bool writing)
{
    static const char* const file = std::getenv("FURROW_FREEZE");
    if (!file) [[likely]]
        return;
    const auto [who, kind] = wordsIn(file);
    if (kind != (writing ? "write" : "read"))
        return;
    const auto self = thisProcess();
    std::error_code failed;
    if ((who == "0" || who == std::to_string(self.pid))
        && std::filesystem::remove(file, failed)) // of two that look, one can
        freezeProcess(self, true);
}

} // namespace furrow
