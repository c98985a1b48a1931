#pragma once

#include <cstdint>
#include <string>

namespace furrow {

/// A row of the data by name.
struct SampleRow {
    std::string file; ///< path or address of the hub
    std::int64_t row = 0; ///< inside the file, from 0
};

} // namespace furrow
