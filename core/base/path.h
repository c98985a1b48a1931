#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

/// The path as UTF-8, for messages, JSON and logs, on every system.
std::string utf8Text(const std::filesystem::path& path);
/// The path of UTF-8 text from JSON or the command line.
std::filesystem::path pathFromUtf8(std::string_view text);

/// Whether `name` is one component of a path and nothing more: no separator, drive or stream, not "." or "..", at most
/// 255 bytes of valid UTF-8 without control characters. Names from a run folder are believed only then: others lead out
/// of it.
bool isPlainName(std::string_view name);

} // namespace furrow
