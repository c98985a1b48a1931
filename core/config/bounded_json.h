#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// JSON of a file that may come from anywhere. Discarded (is_discarded()) when it is none, or when it is nested deeper
/// than anything that Furrow writes: what walks it afterwards, printing included, takes stack for each level.
nlohmann::json parseBoundedJson(std::string_view text);
/// The same; nothing when it is none. @param why  gets the rest of a sentence then, without a full stop: "it is not
/// JSON at byte 17"
std::optional<nlohmann::json> parseBoundedJson(std::string_view text, std::string& why);

} // namespace furrow
