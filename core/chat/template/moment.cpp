#include "core/chat/template/moment.h"

#include <algorithm>
#include <array>

namespace furrow::chat {

namespace {

constexpr std::array<std::string_view, 7> kDays
    = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
constexpr std::array<std::string_view, 12> kMonths = { "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December" };

template <std::size_t N> std::string_view named(const std::array<std::string_view, N>& names, int i)
{
    return names[static_cast<std::size_t>(std::clamp(i, 0, static_cast<int>(N) - 1))];
}

/// A number of at least `digits` digits; with "-" behind the % as short as it is.
std::string padded(int number, int digits, bool isShort, char with = '0')
{
    const auto plain = std::to_string(number);
    const auto missing = isShort ? 0 : digits - static_cast<int>(plain.size());
    return std::string(static_cast<std::size_t>(std::max(missing, 0)), with) + plain;
}

bool appendField(const std::tm& moment, char field, bool isShort, std::string& out)
{
    const int hour12 = moment.tm_hour % 12 == 0 ? 12 : moment.tm_hour % 12;
    switch (field) {
    case '%': out += '%'; return true;
    case 'Y': out += std::to_string(moment.tm_year + 1900); return true;
    case 'y': out += padded(moment.tm_year % 100, 2, isShort); return true;
    case 'm': out += padded(moment.tm_mon + 1, 2, isShort); return true;
    case 'd': out += padded(moment.tm_mday, 2, isShort); return true;
    case 'e': out += padded(moment.tm_mday, 2, isShort, ' '); return true;
    case 'j': out += padded(moment.tm_yday + 1, 3, isShort); return true;
    case 'H': out += padded(moment.tm_hour, 2, isShort); return true;
    case 'I': out += padded(hour12, 2, isShort); return true;
    case 'M': out += padded(moment.tm_min, 2, isShort); return true;
    case 'S': out += padded(moment.tm_sec, 2, isShort); return true;
    case 'p': out += moment.tm_hour < 12 ? "AM" : "PM"; return true;
    case 'B': out += named(kMonths, moment.tm_mon); return true;
    case 'b':
    case 'h': out += named(kMonths, moment.tm_mon).substr(0, 3); return true;
    case 'A': out += named(kDays, moment.tm_wday); return true;
    case 'a': out += named(kDays, moment.tm_wday).substr(0, 3); return true;
    case 'w': out += std::to_string(moment.tm_wday); return true;
    case 'F': return appendMoment(moment, "%Y-%m-%d", out).empty();
    case 'T': return appendMoment(moment, "%H:%M:%S", out).empty();
    case 'R': return appendMoment(moment, "%H:%M", out).empty();
    case 'D': return appendMoment(moment, "%m/%d/%y", out).empty();
    case 'n': out += '\n'; return true;
    case 't': out += '\t'; return true;
    default: return false;
    }
}

} // namespace

std::string appendMoment(const std::tm& moment, std::string_view format, std::string& out)
{
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%' || i + 1 == format.size()) {
            out += format[i];
            continue;
        }
        const bool isShort = format[i + 1] == '-' && i + 2 < format.size();
        i += isShort ? 2 : 1;
        if (!appendField(moment, format[i], isShort, out))
            return std::string(format.substr(i - (isShort ? 2 : 1), isShort ? 3 : 2));
    }
    return {};
}

} // namespace furrow::chat
