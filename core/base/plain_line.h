#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace furrow {

/// Most bytes of a text from outside that is shown as a part of a sentence.
inline constexpr std::size_t kPlainLineBytes = 4096;

/// A text from outside (a tracker, a log, a name) as one line that cannot pretend to be anything else: what is not
/// UTF-8 becomes U+FFFD, a control character becomes its picture ("␛", "␊"), C1 codes and characters that turn the
/// direction of writing become U+FFFD, and what is longer than `maxBytes` ends in "...".
std::string plainLine(std::string_view text, std::size_t maxBytes = kPlainLineBytes);

} // namespace furrow
