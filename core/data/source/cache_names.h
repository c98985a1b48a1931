#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

// Which names a cache gives to files. What else lies there belongs to somebody, as in a folder that was another
// program's cache before: it is not counted, not listed and never removed. Internal to the cache.

inline constexpr const char* kTemporary = "temporary";
inline constexpr const char* kMembers = "members";
inline constexpr const char* kBad = ".bad-"; ///< part of the name of a quarantined file
inline constexpr std::size_t kBadDigits = 6; ///< behind it
inline constexpr const char* kGoing = ".evicted"; ///< ending of a temporary that is only there to be removed
inline constexpr int kMemberDigits = 16; ///< of the name of a process
inline constexpr std::string_view kOutdatedEnding = ".text"; ///< in "expanded": of an older Furrow, without checksums

/// Whether the cache gave a file of this folder this name.
bool isCacheFile(std::string_view sub, std::string_view name);
/// "<member>-<n>" -> "<member>", also of what it evicts; "" for a name that no member gives.
std::string memberOf(std::string temporaryName);
/// Whether a member, or a claim of one (named after a download), has this name.
bool isMemberMark(std::string_view stem);
/// By its content: whether a file with the name of a prepared block was made by the cache.
bool isBlock(const std::filesystem::path& path);

} // namespace furrow
