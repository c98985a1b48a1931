#pragma once

#include <cstddef>

namespace furrow {

inline constexpr int kMaxRedirects = 5;
inline constexpr std::size_t kMaxPages = 10'000; ///< of a list of files; the hub sends 1,000 a page

} // namespace furrow
