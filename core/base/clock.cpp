#include "core/base/clock.h"

#include "core/base/host.h"

#include <cstdio>

namespace furrow {

const std::string& bootId()
{
    static const std::string id = host::readBootId();
    return id;
}

std::string isoTime(std::int64_t wallNs)
{
    using namespace std::chrono;
    const auto second = floor<seconds>(sys_time<nanoseconds>(nanoseconds(wallNs)));
    const auto day = floor<days>(second);
    const year_month_day date(day);
    const hh_mm_ss time(second - day);
    char text[48];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
        static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
    return text;
}

} // namespace furrow
