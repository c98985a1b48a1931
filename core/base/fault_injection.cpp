#include "core/base/fault_injection.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

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

bool diskPretendsFull()
{
    static const char* const file = std::getenv("FURROW_DISK_FULL");
    std::error_code unknown;
    return file && std::filesystem::exists(file, unknown);
}

} // namespace furrow
