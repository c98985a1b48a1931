#pragma once

#include <ostream>

namespace furrow::ctl {

/// From here on, whatever is printed to a terminal through std::cout and std::cerr cannot steer it: names, causes and
/// texts come from run folders and data that others made. What goes into a file or a pipe stays as it is, to the byte.
/// Once, at the start of main.
void protectTerminal();

/// Empties the line that is being drawn: the one control sequence of our own.
std::ostream& clearLine(std::ostream& stream);

} // namespace furrow::ctl
