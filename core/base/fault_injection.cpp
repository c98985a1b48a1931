#include "core/base/fault_injection.h"

#include <cstdlib>
#include <filesystem>

namespace furrow {

double faultNumber(const char* name, double otherwise)
{
    const char* text = std::getenv(name);
    return text && *text ? std::strtod(text, nullptr) : otherwise;
}

bool diskPretendsFull()
{
    static const char* const file = std::getenv("FURROW_DISK_FULL");
    std::error_code unknown;
    return file && std::filesystem::exists(file, unknown);
}

} // namespace furrow
