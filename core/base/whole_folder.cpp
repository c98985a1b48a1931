#include "core/base/whole_folder.h"

#include "core/base/absolute_path.h"
#include "core/base/random.h"

namespace furrow {

Status makeWholeFolder(FileSystem& files, const std::filesystem::path& out,
    const std::function<Status(const std::filesystem::path& folder)>& fill)
{
    const auto place = absolutePath(out);
    auto growing = place.has_filename() ? place : place.parent_path();
    const auto target = growing;
    growing += ".new-" + randomHex(8);
    std::error_code none;
    Status done = files.createFolders(growing);
    if (done.ok())
        done = fill(growing);
    if (done.ok())
        std::filesystem::remove(target, none); // an empty one that a person made
    if (done.ok())
        done = files.rename(growing, target);
    if (done.ok())
        done = files.syncFolder(target.parent_path());
    if (!done.ok())
        (void)files.removeAll(growing);
    return done;
}

} // namespace furrow
