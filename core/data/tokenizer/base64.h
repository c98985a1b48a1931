#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// The bytes of base64 text, padded or not; nothing when it has other characters.
std::optional<std::string> fromBase64(std::string_view text);

} // namespace furrow
