#pragma once

#include "core/base/format.h"

namespace furrow {

/// "1 block", "1,412 blocks": English, for lines that are not translated.
inline std::string numberOf(std::int64_t count, const std::string& thing)
{
    return formatCount(count) + " " + thing + (count == 1 ? "" : "s");
}

} // namespace furrow
