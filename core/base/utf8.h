#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace furrow {

/// Valid by Unicode 15 table 3-7: no surrogates, no overlong forms, nothing above U+10FFFF.
bool isValidUtf8(std::string_view text);

struct RepairedText {
    std::string text; ///< valid UTF-8
    std::size_t replaced = 0; ///< how many ill-formed pieces became U+FFFD
};
/// Each maximal ill-formed piece becomes one U+FFFD, as browsers and Python do.
RepairedText replaceInvalidUtf8(std::string_view text);

/// @param text  valid UTF-8
std::size_t countCodePoints(std::string_view text);

/// The longest beginning of valid text that has at most `maxBytes` and cuts no code point.
std::string_view cutAtCodePoint(std::string_view text, std::size_t maxBytes);

} // namespace furrow
