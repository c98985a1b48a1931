#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace furrow::chat {

// What Python does with text, on UTF-8: lengths and places are in code points.

/// The code point at byte `at`, which moves behind it. A byte that is no UTF-8 counts as one, U+FFFD.
char32_t nextCodePoint(std::string_view text, std::size_t& at);
void appendCodePoint(char32_t c, std::string& out);
/// The byte where code point number `index` begins; the size of the text where there are fewer.
std::size_t byteOfCodePoint(std::string_view text, std::size_t index);
std::size_t lengthInCodePoints(std::string_view text);

bool isPythonSpace(char32_t c);
/// Without what is at its ends of `characters`, else of white space.
std::string_view stripLeft(std::string_view text, std::optional<std::string_view> characters = {});
std::string_view stripRight(std::string_view text, std::optional<std::string_view> characters = {});

std::string upperCase(std::string_view text);
std::string lowerCase(std::string_view text);
/// The first code point in title case, the others in lower case.
std::string capitalized(std::string_view text);
/// str.title(): each word, which begins behind what has no case.
std::string titleOfWords(std::string_view text);

} // namespace furrow::chat
