#pragma once

#include "core/tracker/supervisor_ledger.h"

#include <map>
#include <string>

namespace furrow {

/// What of a TrackerConfig decides how chunks are given out and their tokens counted, as the tracker keeps it: by key
/// in its table meta (LedgerReader::orderFacts). What was not chosen is not there.
std::map<std::string, std::string> orderFacts(const TrackerConfig& config);

} // namespace furrow
