#pragma once

#include <cstdint>

namespace furrow {

/// Training as theory often has it: each step draws each unit by a coin of its own, and nobody learns which ones.
struct PoissonSteps {
    double rate = 0; ///< chance of a unit to be in a step, (0, 1]
    std::int64_t steps = 0;
    double noise = 0; ///< as noise_multiplier
};

/// Epsilon at a delta that training so would have, for one unit that is left out: Renyi divergences of the sampled
/// Gaussian mechanism (Mironov, Talwar, Zhang 2019, arXiv:1908.10530) at fixed orders, which are those of Opacus and
/// dp-accounting, turned into epsilon by Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), proposition 12. An upper
/// bound. Furrow draws no coins, so it is for comparison with other programs only. Infinite without noise. Pure.
double poissonEpsilon(const PoissonSteps& training, double delta);

} // namespace furrow
