#pragma once

namespace furrow {

/// How a model is to write, as furrowctl takes it.
struct SamplingChoices {
    int tokens = 200; ///< at most
    double temperature = 0.8; ///< 0: always the likeliest
    int topK = 0; ///< 0: all
    int seed = 1337;
};

} // namespace furrow
