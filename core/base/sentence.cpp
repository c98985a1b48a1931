#include "core/base/sentence.h"

namespace furrow {

std::string sentence(std::string_view text, const std::vector<std::string>& values)
{
    std::string filled;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t number = text[i] == '%' && i + 1 < text.size() ? static_cast<std::size_t>(text[i + 1] - '0') : 0;
        if (number >= 1 && number <= values.size()) {
            filled += values[number - 1];
            ++i;
        } else {
            filled += text[i];
        }
    }
    return filled;
}

} // namespace furrow
