#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace furrow {

/// The value at `share` (0..1) of the sorted values; 0 when there are none.
inline double quantile(std::vector<double> values, double share)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

} // namespace furrow
