#pragma once

#include "core/chat/template/routine.h"

#include <algorithm>

namespace furrow::chat {

/// The routine of this name in a table that is sorted by name.
template <std::size_t N> const Routine* findIn(const Routine (&table)[N], std::string_view name)
{
    const auto* found = std::lower_bound(std::begin(table), std::end(table), name,
        [](const Routine& routine, std::string_view wanted) { return routine.name < wanted; });
    return found != std::end(table) && found->name == name ? found : nullptr;
}

} // namespace furrow::chat
