#pragma once

#include <cstdint>

namespace furrow {

/// How a model compares pairs of answers of which people chose one (setting objective), against the weights that it
/// started from.
struct PairMarks {
    std::int64_t pairs = 0; ///< compared; 0: none
    double margin
        = 0; ///< mean of beta times what the chosen answer gained on the start weights less what the other did
    double preferred = 0; ///< share of the pairs where that is above 0
    bool operator==(const PairMarks&) const = default;
};

} // namespace furrow
