#pragma once

#include "core/tracker/supervisor_ledger.h"

#include <filesystem>
#include <map>
#include <string>

namespace furrow {

/// What of a TrackerConfig decides how chunks are given out and their tokens counted, as the tracker keeps it: by key
/// in its table meta. What was not chosen is not there.
std::map<std::string, std::string> orderFacts(const TrackerConfig& config);

/// The same as it stands in a tracker now.
Result<std::map<std::string, std::string>> readOrderFacts(const std::filesystem::path& tracker);

} // namespace furrow
