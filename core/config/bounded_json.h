#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

namespace furrow {

/// JSON of a file that may come from anywhere. Discarded (is_discarded()) when it is none, or when it is nested deeper than anything that
/// Furrow writes: what walks it afterwards, printing included, takes stack for each level.
nlohmann::json parseBoundedJson(std::string_view text);

} // namespace furrow
