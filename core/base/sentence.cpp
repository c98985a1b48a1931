#include "core/base/sentence.h"

#include "core/base/plain_line.h"

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

constexpr std::size_t kMostValueBytes = 1 << 16;

/// Bytes of the full stop that `text` goes on with where a sentence before it has ended already; 0: it is needed.
std::size_t superfluousStop(std::string_view before, std::string_view text)
{
    constexpr std::string_view kStops[] = { ".", "?", "!", "。", "？", "！" };
    const bool isOver = std::any_of(
        std::begin(kStops), std::end(kStops), [before](std::string_view stop) { return before.ends_with(stop); });
    for (const std::string_view stop : { std::string_view("."), std::string_view("。") })
        if (isOver && text.starts_with(stop) && !text.substr(stop.size()).starts_with(stop))
            return stop.size();
    return 0;
}

} // namespace

std::string sentence(std::string_view text, const std::vector<std::string>& values)
{
    std::string filled;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t number
            = text[i] == '%' && i + 1 < text.size() ? static_cast<std::size_t>(text[i + 1] - '0') : 0;
        if (number >= 1 && number <= values.size()) {
            filled
                += plainLine(values[number - 1], kMostValueBytes); // names and causes come from files that others made
            ++i;
            i += superfluousStop(filled, text.substr(i + 1)); // a cause may be a whole sentence
        } else {
            filled += text[i];
        }
    }
    return filled;
}

} // namespace furrow
