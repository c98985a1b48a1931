#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow::ctl {

/// A model of the hub (hf://owner/name) is brought to this machine, and its place there takes the name's place.
/// Anything else stays as it is. What is fetched and how far it is goes to stderr.
Status bringModel(std::string& model, bool quiet);

} // namespace furrow::ctl
