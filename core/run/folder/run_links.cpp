#include "core/run/folder/run_links.h"

#include "core/base/file_system.h"
#include "core/base/link_refusal.h"
#include "core/base/regular_file.h"
#include "core/data/source/block_cache.h"
#include "core/tracker/sqlite/database_files.h"

namespace furrow {

Status refuseLinks(const RunPaths& paths)
{
    std::error_code unknown;
    FURROW_TRY(refuseLinkedDatabase(paths.tracker()));
    FURROW_TRY(refuseLinksInCache(paths.cacheFolder()));
    for (const auto& path : { paths.supervisorLock(), paths.exportsFolder(), paths.viewCacheFolder() })
        FURROW_TRY(refuseLink(path));
    for (const auto& path : { paths.folder() / "cache", paths.checkpointsFolder(), paths.removedManifestsFolder(),
             paths.unknownCheckpointsFolder(), paths.writingNotesFolder(), paths.frozenFolder(), paths.meetingsFolder(),
             paths.leftOutFolder() })
        FURROW_TRY(refuseNoFolder(path));
    for (const auto& folder : { paths.telemetryFolder(), paths.logsFolder(), paths.memoryFolder(),
             paths.evaluationsFolder() }) { // files there are appended to
        FURROW_TRY(refuseNoFolder(folder));
        auto entries = entriesOf(folder);
        if (!entries.ok() && entries.error().code != ErrorCode::NotFound)
            return entries.error();
        if (entries.ok())
            for (const auto& entry : entries.value()) {
                FURROW_TRY(refuseLink(entry));
                if (!std::filesystem::is_directory(entry, unknown)) // one that a person made there does no harm
                    FURROW_TRY(refuseIrregular(entry));
            }
    }
    return {};
}

Status refuseSecondNames(const RunPaths& paths)
{
    for (const auto& file : databaseFiles(paths.tracker()))
        FURROW_TRY(refuseSecondName(file));
    return refuseSecondName(paths.supervisorLog());
}

} // namespace furrow
