#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace furrow {

// The reference tokenizers carry an Oniguruma of Unicode 16; the one that a system brings may be older. A character
// that the older one does not know is shown to it as one that it does know and that has the same category, script and
// other properties (newer_code_points.inc).

/// The character to show to this system's Oniguruma in the place of `c`; `c` itself when it knows that.
char32_t knownCharacter(char32_t c);

/// What in a pattern could tell a character from the one that stands for it.
class PatternCharacters {
public:
    explicit PatternCharacters(std::string_view pattern);
    /// No literal and no range of the pattern tells the two apart.
    bool treatsAlike(char32_t a, char32_t b) const;

private:
    std::vector<std::pair<char32_t, char32_t>> named_; ///< literals and ranges beyond ASCII
    bool opaque_ = false; ///< it names single bytes, or compares characters with each other
};

/// The pattern with what older versions understand otherwise written out: [:punct:] holds the symbols as well.
std::string patternForThisVersion(std::string_view pattern);

/// What the pattern asks for and nobody has compared with the reference: properties that are not in
/// proven_properties.inc, words by (?y{w}).
/// "" when there is nothing. The library must have been started.
std::string unprovenPart(std::string_view pattern);

} // namespace furrow
