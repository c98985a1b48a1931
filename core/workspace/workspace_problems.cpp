#include "core/workspace/workspace_problems.h"

#include "core/base/dead_link.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/source/block_cache.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/workspace/workspace_file.h"
#include "core/workspace/workspace_paths.h"

#include <system_error>

namespace furrow {

namespace {

namespace fs = std::filesystem;

Status refuseDeadLink(const fs::path& path)
{
    const auto deadLink = deadLinkOn(path);
    return deadLink.empty() ? Status {} : Error { ErrorCode::Io, deadLink };
}

/// It may be reached through links.
Status checkFolder(const fs::path& folder)
{
    FURROW_TRY(refuseDeadLink(folder));
    std::error_code unknown;
    const auto there = fs::status(folder, unknown);
    if (!fs::exists(there) || fs::is_directory(there))
        return {};
    return Error { ErrorCode::Io,
        sentence("%1 is not a folder, and a workspace keeps a folder there. Move away what has its name.",
            { utf8Text(folder) }) };
}

/// So may this one.
Status checkFile(const fs::path& file)
{
    FURROW_TRY(refuseDeadLink(file));
    return refuseIrregular(file);
}

Status checkLock(const fs::path& lock) { return isLink(lock) ? Status(irregular(lock)) : refuseIrregular(lock); }

} // namespace

std::vector<Message> workspaceProblems(const fs::path& workspace)
{
    std::vector<Message> found;
    const auto look = [&found](const Status& status) {
        if (!status.ok())
            found.push_back(status.error().message);
        return status.ok();
    };
    if (!look(checkFolder(workspace)))
        return found;
    const auto cache = cacheOfWorkspace(workspace);
    look(checkFolder(runsOf(workspace)));
    look(checkFolder(trashOf(workspace)));
    if (look(checkFolder(cache))) {
        look(refuseLinksInCache(cache));
        const auto entries = entriesOf(cache);
        for (const auto& entry : entries.ok() ? entries.value() : std::vector<fs::path>()) {
            std::error_code unknown;
            if (!fs::is_directory(entry, unknown))
                look(checkFile(entry));
        }
    }
    for (const auto& file : databaseFiles(workspaceFile(workspace)))
        look(checkFile(file));
    for (const auto& lock : { libraryLock(workspace), queueLock(workspace) })
        look(checkLock(lock));
    look(checkFile(queueLog(workspace)));
    return found;
}

} // namespace furrow
