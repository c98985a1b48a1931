#include "core/run/run_links.h"

#include "core/base/file_system.h"
#include "core/base/link_refusal.h"
#include "core/tracker/database_files.h"

namespace furrow {

Status refuseLinks(const RunPaths& paths)
{
    FURROW_TRY(refuseLinkedDatabase(paths.tracker()));
    for (const auto& path : { paths.supervisorLock(), paths.checkpointsFolder(), paths.removedManifestsFolder(), paths.unknownCheckpointsFolder(),
             paths.writingNotesFolder(), paths.frozenFolder(), paths.exportsFolder(), paths.meetingsFolder(), paths.viewCacheFolder(), paths.folder() / "cache" })
        FURROW_TRY(refuseLink(path));
    for (const auto& folder : { paths.telemetryFolder(), paths.logsFolder(), paths.memoryFolder(), paths.evaluationsFolder() }) { // files there are appended to
        FURROW_TRY(refuseLink(folder));
        auto entries = entriesOf(folder);
        if (!entries.ok() && entries.error().code != ErrorCode::NotFound)
            return entries.error();
        if (entries.ok())
            for (const auto& entry : entries.value())
                FURROW_TRY(refuseLink(entry));
    }
    return {};
}

} // namespace furrow
