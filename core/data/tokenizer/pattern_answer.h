#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace furrow {

/// Why nobody knows what a pattern matches in a text: its limits of steps and memory say nothing about the text, so
/// reaching them is an error, a sentence that names the pattern. Taken for "no match" it would change token ids, or
/// train a text that a person left out.
Error noPatternAnswer(std::string_view pattern, std::size_t textBytes, const Message& why);

} // namespace furrow
