#pragma once

#include "core/base/message.h"
#include "core/base/process.h"

#include <chrono>

namespace furrow {

/// What a program that ends by itself said.
struct ProcessAnswer {
    std::string text; ///< stdout and stderr, its first MiB
    std::optional<ProcessExit> exit; ///< nothing: it did not end in time and was killed
    std::chrono::milliseconds patience {}; ///< it was waited for so long, at most

    bool isGood() const { return exit && exit->signal == 0 && exit->exitCode == 0; }
    std::string lastLine() const; ///< without its end
    /// Why it is not good: its last line, else how it ended.
    Message reason() const;
    /// A sentence where it was killed, crashed or took too long: then it answered nothing, neither yes nor no. Empty:
    /// it came to its own end.
    Message unanswered() const;
};

/// Starts a program and waits for its end, at most `patience`. An error: it could not be started.
Result<ProcessAnswer> askProcess(
    const std::filesystem::path& program, ProcessOptions options, std::chrono::milliseconds patience);

/// The program of that name that a shell would start: the first one in PATH. Empty: there is none.
std::filesystem::path programInPath(const std::string& name);

} // namespace furrow
