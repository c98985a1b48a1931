#pragma once

#include <string>
#include <vector>

namespace furrow {

/// The parts of a list setting as one text: behind commas, and one that has a comma of its own in double quotes.
/// setSetting() reads it.
std::string listText(const std::vector<std::string>& parts);

} // namespace furrow
