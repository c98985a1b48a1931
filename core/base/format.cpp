#include "core/base/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace furrow {

std::string formatNumber(double value, int decimals)
{
    std::array<char, 400> text; // DBL_MAX has 309 digits before the point
    const auto end = std::to_chars(
        text.data(), text.data() + text.size(), value, std::chars_format::fixed, std::clamp(decimals, 0, 20));
    return { text.data(), end.ptr };
}

std::string formatBytes(std::uint64_t bytes)
{
    if (bytes < 1024)
        return std::to_string(bytes) + " B";
    constexpr std::array kUnits { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double amount = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    // 1023.95 would be printed as 1024.0
    while (amount >= 1023.95 && unit + 1 < kUnits.size()) {
        amount /= 1024;
        ++unit;
    }
    return formatNumber(amount, 1) + " " + kUnits[unit];
}

std::string formatCount(std::int64_t count)
{
    std::string text = std::to_string(count);
    const std::size_t first = count < 0 ? 1 : 0;
    for (std::size_t place = text.size(); place > first + 3;) {
        place -= 3;
        text.insert(place, 1, ',');
    }
    return text;
}

std::string formatDuration(double seconds)
{
    if (!(seconds > 0))
        return "0 s";
    if (seconds < 0.9995)
        return formatNumber(seconds * 1000, 0) + " ms";
    if (seconds > 1e15)
        return "for ever";
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr std::array kUnits { Unit { 86400, " d" }, Unit { 3600, " h" }, Unit { 60, " min" }, Unit { 1, " s" } };
    std::size_t unit = 0;
    while (whole < kUnits[unit].seconds)
        ++unit;
    std::string text = std::to_string(whole / kUnits[unit].seconds) + kUnits[unit].name;
    if (unit + 1 < kUnits.size()) {
        const std::int64_t rest = whole % kUnits[unit].seconds / kUnits[unit + 1].seconds;
        if (rest > 0)
            text.append(" ").append(std::to_string(rest)).append(kUnits[unit + 1].name);
    }
    return text;
}

std::string formatHex(std::uint64_t value)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

std::string hexOf(std::string_view bytes)
{
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += kDigits[static_cast<unsigned char>(byte) >> 4];
        text += kDigits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

} // namespace furrow
