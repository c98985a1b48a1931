#pragma once

#include <ostream>

namespace furrow::ctl {

/// From here on, whatever is printed to a terminal through std::cout and std::cerr cannot steer it: names, causes and
/// texts come from run folders and data that others made. What goes into a file or a pipe stays as it is, to the byte.
/// Once, at the start of main.
void protectTerminal();

/// Whether `dim` shows on this stream: it is a terminal, and its person did not ask for none of that (NO_COLOR, or
/// TERM=dumb).
bool canBeDim(const std::ostream& stream);

// The control sequences of our own.

/// Empties the line that is being drawn.
std::ostream& clearLine(std::ostream& stream);
/// What follows is dim until it is plain again; nothing where the stream cannot.
std::ostream& dim(std::ostream& stream);
std::ostream& plain(std::ostream& stream);

} // namespace furrow::ctl
