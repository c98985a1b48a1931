#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// Newest weights, by what a ledger says of them.
struct KnownHead {
    std::string folder; ///< as it stands there: perhaps not the name of a folder
    std::string manifestSha256;
};
/// The newest weights that a ledger calls neither damaged nor removed, also where rows of it cannot be used: for who
/// holds them against manifests, and opens nothing by their names.
Result<std::vector<KnownHead>> knownHeads(const std::filesystem::path& ledger);

} // namespace furrow
