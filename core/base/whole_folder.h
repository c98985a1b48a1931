#pragma once

#include "core/base/file_system.h"

#include <filesystem>
#include <functional>

namespace furrow {

/// A folder that is there only when it is whole: it grows under another name, NAME.new-<random>, which is no folder
/// yet, and putInPlace() renames it. What failed goes away with this; what a kill left has a name that says so.
///
/// A folder that is there already, empty, stays what it is, with its rights, owner, group and access lists: the new one
/// grows in it, and so inherits from it, and its entries are moved up.
class WholeFolder {
public:
    /// @param out  not there, or holdsNothing()
    WholeFolder(FileSystem& files, const std::filesystem::path& out);
    WholeFolder(const WholeFolder&) = delete;
    ~WholeFolder();

    const std::filesystem::path& growing() const { return growing_; } ///< absolute; not made yet
    /// @param last  the entry without which nobody takes the folder for whole: where the entries are moved, a kill or a
    /// power loss in between leaves none of that name
    Status putInPlace(const std::filesystem::path& last);

private:
    Status moveUp(const std::filesystem::path& last);

    FileSystem& files_;
    std::filesystem::path out_;
    std::filesystem::path growing_;
};

/// Nothing is in the folder, or only what was killed as it grew there; it is none, or cannot be listed: false.
bool holdsNothing(const std::filesystem::path& folder);

/// The same in one: `fill` fills the one that grows. The last argument as of putInPlace().
/// @param out  not there, or holdsNothing()
Status makeWholeFolder(FileSystem& files, const std::filesystem::path& out, const std::filesystem::path& last,
    const std::function<Status(const std::filesystem::path& folder)>& fill);

} // namespace furrow
