#pragma once

#include <chrono>

namespace furrow {

/// How long whoever opens a tracker in this program to read it waits at most for another process that has it for itself
/// alone, from now on: for a command that looks at many runs, none of which may keep the others waiting. Thread-safe.
void setReadersPatience(std::chrono::milliseconds most);

} // namespace furrow
