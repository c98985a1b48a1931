#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace furrow {

/// The text in lower case, as far as it is ASCII.
inline std::string lowerCase(std::string_view text)
{
    std::string out(text);
    std::transform(
        out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace furrow
