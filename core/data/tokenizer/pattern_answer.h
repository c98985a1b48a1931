#pragma once

#include "core/base/result.h"

#include <string_view>

namespace furrow {

/// What an answer of pcre2_match means: true a match, false none. All else (its limits of steps and memory) says nothing about the text, so it
/// is an error, a sentence that names the pattern: taken for "no match" it would change token ids, or train a text that a person left out.
Result<bool> patternAnswer(int code, std::string_view pattern, std::size_t textBytes);

} // namespace furrow
