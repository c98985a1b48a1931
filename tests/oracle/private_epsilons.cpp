// Answers tests/oracle/privacy_accounting.py: each line "KIND COUNT NOISE DELTA RATE" of the input, where KIND is
// `takes` (COUNT participations) or `coins` (COUNT steps that draw each unit with the chance RATE), gets a line with
// the epsilon.

#include "core/config/gaussian_privacy.h"
#include "core/config/poisson_privacy.h"

#include <cstdio>
#include <iostream>
#include <string>

int main()
{
    std::string kind;
    std::int64_t count = 0;
    double noise = 0;
    double delta = 0;
    double rate = 0;
    while (std::cin >> kind >> count >> noise >> delta >> rate)
        std::printf("%.17g\n",
            kind == "takes" ? furrow::epsilonOf(furrow::lossOf(count, noise), delta)
                            : furrow::poissonEpsilon({ rate, count, noise }, delta));
}
