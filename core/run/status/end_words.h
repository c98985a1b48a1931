#pragma once

#include "core/tracker/types.h"

#include <string>

namespace furrow {

/// What is recorded of an attempt that a person killed; its reason is that of a stop.
std::string killedDetail();

/// Why an attempt ended, for people: as inWords(), and a kill is called one.
std::string endReason(StopReason reason, const std::string& detail);

} // namespace furrow
