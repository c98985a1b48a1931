#pragma once

#include "core/base/closed_set.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace furrow {

/// A check of an option: one of the names of these closed sets.
template <ClosedSet... Enum> CLI::Validator oneOf()
{
    std::vector<std::string> names;
    const auto add = [&names](const auto& set) {
        for (const auto& one : set)
            names.emplace_back(one.name);
    };
    (add(kClosedNames<Enum>), ...);
    return CLI::IsMember(names);
}

/// The same of the values that `isAllowed`.
template <ClosedSet Enum> CLI::Validator oneOf(bool (*isAllowed)(Enum))
{
    std::vector<std::string> names;
    for (const auto& one : kClosedNames<Enum>)
        if (isAllowed(one.value))
            names.emplace_back(one.name);
    return CLI::IsMember(names);
}

/// An option whose value is one of a closed set. `into`, an Enum or an optional one, must outlive the parsing.
template <ClosedSet Enum>
CLI::Option* addChoice(CLI::App& app, const std::string& name, auto& into, const std::string& help,
    const CLI::Validator& check = oneOf<Enum>())
{
    return app
        .add_option_function<std::string>(
            name, [&into](const std::string& text) { into = closedValue<Enum>(text).value(); }, help)
        ->check(check);
}

} // namespace furrow
