#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

/// The path as UTF-8, for messages, JSON and logs, on every system.
std::string utf8Text(const std::filesystem::path& path);
/// The path of UTF-8 text from JSON or the command line.
std::filesystem::path pathFromUtf8(std::string_view text);

} // namespace furrow
