#include "core/config/chunk_name.h"

#include <charconv>

namespace furrow {

namespace {

template <typename Number> bool isWhole(std::string_view text, Number& number)
{
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc {} && end == text.data() + text.size() && number >= 0;
}

} // namespace

std::optional<ChunkName> parseChunkName(std::string_view text)
{
    const auto colon = text.find(':');
    ChunkName name;
    if (colon == std::string_view::npos || !isWhole(text.substr(0, colon), name.block)
        || !isWhole(text.substr(colon + 1), name.column))
        return std::nullopt;
    return name;
}

} // namespace furrow
