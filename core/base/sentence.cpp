#include "core/base/sentence.h"

#include "core/base/plain_line.h"

namespace furrow {

namespace {
constexpr std::size_t kMostValueBytes = 1 << 16;
}

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
        } else {
            filled += text[i];
        }
    }
    return filled;
}

} // namespace furrow
