#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace furrow {

/// One value of a closed set and its texts.
template <typename Enum> struct ClosedName {
    Enum value;
    std::string_view name; ///< in files and on the command line; it never changes: runs hold it
    std::string_view label {}; ///< English, in the form; empty: the name is one of its own, as bf16
};
template <typename Enum> ClosedName(Enum, std::string_view) -> ClosedName<Enum>;
template <typename Enum> ClosedName(Enum, std::string_view, std::string_view) -> ClosedName<Enum>;

/// The table of a closed set, in the order in which it is shown; specialised beside its enum. Nothing else compares
/// those texts: code that asks what a value is compares the enum.
template <typename Enum> inline constexpr std::array<ClosedName<Enum>, 0> kClosedNames {};

/// An enum with a table.
template <typename Enum>
concept ClosedSet = std::is_enum_v<Enum> && (kClosedNames<Enum>.size() > 0);

/// Its name in files and on the command line.
template <ClosedSet Enum> constexpr std::string_view nameOf(Enum value)
{
    for (const auto& one : kClosedNames<Enum>)
        if (one.value == value)
            return one.name;
    return {};
}

template <ClosedSet Enum> std::string toString(Enum value) { return std::string(nameOf(value)); }

/// The value of that name; nothing for a name that is not in the table.
template <ClosedSet Enum> constexpr std::optional<Enum> closedValue(std::string_view name)
{
    for (const auto& one : kClosedNames<Enum>)
        if (one.name == name)
            return one.value;
    return std::nullopt;
}

} // namespace furrow
