#pragma once

#include <string_view>

namespace furrow {

// First bytes of files of the cache: by them it knows its own before it removes one.
inline constexpr std::string_view kBlockMagic = "FURROWBK"; ///< of a prepared block

} // namespace furrow
