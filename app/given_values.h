#pragma once

#include <CLI/CLI.hpp>

namespace furrow {

/// The last step of describing a program: every option that takes a value, of every command, refuses an empty one by
/// its name. It is mostly a variable that is not set, and what the command would do without the option is not what was
/// asked for. A prompt may be empty.
void refuseEmptyValues(CLI::App& app);

} // namespace furrow
