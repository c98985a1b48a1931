#include "core/base/log_normal.h"

#include <cmath>
#include <numbers>

namespace furrow {

double logNormal(double x)
{
    if (x > -30)
        return std::log(0.5 * std::erfc(-x / std::numbers::sqrt2));
    const double inverse = 1 / (x * x); // Abramowitz and Stegun 26.2.12; the next term is below 1e-12
    return -0.5 * x * x - std::log(-x * std::sqrt(2 * std::numbers::pi))
        + std::log1p(-inverse * (1 - inverse * (3 - 15 * inverse)));
}

} // namespace furrow
