#pragma once

#include "core/base/file_system.h"

#include <filesystem>
#include <functional>

namespace furrow {

/// Makes a folder that is there only when it is whole: `fill` fills one beside it, OUT.new-<random>, which is synced
/// and renamed then. What failed is removed; what a kill left has a name that says so.
/// @param out  not there, or empty
Status makeWholeFolder(FileSystem& files, const std::filesystem::path& out,
    const std::function<Status(const std::filesystem::path& folder)>& fill);

} // namespace furrow
