#pragma once

#include "core/base/process.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// How a process was started.
struct StartedAs {
    std::vector<std::string> words; ///< the program first, as UTF-8; empty while it starts
    std::filesystem::path workingFolder; ///< now; what relative words mean
};

/// Nothing when the process is gone, belongs to a user whose processes are not shown, or the system does not tell
/// (Windows).
std::optional<StartedAs> startedAs(const ProcessIdentity& process);

/// Living processes whose words behind the program begin with these. None where the system does not tell.
std::vector<ProcessIdentity> processesStartedWith(const std::vector<std::string>& words);

} // namespace furrow
