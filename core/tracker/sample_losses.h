#pragma once

#include "core/tracker/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// "17:7.94 203:7.412"; what the tracker stores, to three decimal places.
std::string encodeSampleLosses(const std::vector<SampleLoss>& losses);
/// Reads encodeSampleLosses' text; stops at the first character that does not belong.
std::vector<SampleLoss> decodeSampleLosses(std::string_view text);

} // namespace furrow
