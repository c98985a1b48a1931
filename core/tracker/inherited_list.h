#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <map>
#include <string>

namespace furrow {

/// What a ledger lists of one block as seen by the weights that the run began with.
struct InheritedRow {
    std::string columns; ///< as encodeRanges() writes them
    Inherited mark = Inherited::Nothing;
    bool operator==(const InheritedRow&) const = default;
};
/// By block.
using InheritedList = std::map<std::int64_t, InheritedRow>;

/// The list that a run has from its beginning. Empty: it lists nothing, or the file is of version 1, which cannot.
Result<InheritedList> inheritedList(const std::filesystem::path& tracker);
/// Puts a list in place of the one that is there; chunks of blocks that are known stay marked as they are. For a file
/// that nobody else uses (a copy).
Status storeInheritedList(const std::filesystem::path& tracker, const InheritedList& list);

/// Names a list: 64 hex digits.
std::string hashOf(const InheritedList& list);

} // namespace furrow
