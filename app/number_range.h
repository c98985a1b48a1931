#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <sstream>
#include <string>

namespace furrow {

/// A check of an option: a number from one bound to another, both allowed. CLI11's own Range takes "nan" for a number
/// of each range, and answers with six decimals.
template <typename Number> CLI::Validator numberFrom(Number least, Number most)
{
    constexpr bool kIsWhole = std::integral<Number>;
    constexpr double kEndless = 1e15; // a bound that only keeps numbers exact
    std::ostringstream bounds;
    bounds << (kIsWhole ? "whole number" : "number");
    if (static_cast<double>(most) < kEndless)
        bounds << " from " << least << " to " << most;
    else
        bounds << ", " << least << " or more";
    const auto check = [least, most, said = bounds.str()](std::string& text) -> std::string {
        Number value {};
        if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most)
            return {};
        return "'" + text + "' is not a " + said + ".";
    };
    return CLI::Validator(check, bounds.str());
}

} // namespace furrow
