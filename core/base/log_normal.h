#pragma once

namespace furrow {

/// Natural logarithm of the distribution function of the standard normal distribution, without underflow far below 0.
double logNormal(double x);

} // namespace furrow
