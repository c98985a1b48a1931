#pragma once

#include <string>
#include <string_view>

namespace furrow {

/// A person reads stderr in a terminal.
bool errorsAreOnTerminal();

/// What is printed piece by piece, as a terminal may get it: line ends and tabs stay, other control characters become
/// their pictures, C1 codes U+FFFD. Pieces may cut characters. Not thread-safe.
class TerminalText {
public:
    std::string next(std::string_view piece);
    /// What was held back of a character that never ended.
    std::string end();

private:
    bool lead_ = false; ///< the byte that C1 codes begin with, of which it is not known yet what follows
};

} // namespace furrow
