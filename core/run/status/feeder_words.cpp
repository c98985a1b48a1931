#include "core/run/status/feeder_words.h"

#include <charconv>

namespace furrow {

std::optional<std::int64_t> blockInPreparation(const Message& doing)
{
    const auto values = valuesOf(doing, kPreparingBlock);
    if (!values)
        return std::nullopt;
    const std::string& number = values->front();
    std::int64_t block = 0;
    const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), block);
    return failed == std::errc {} && end == number.data() + number.size() ? std::optional(block) : std::nullopt;
}

} // namespace furrow
