#include "core/run/run_links.h"

#include "core/base/file_system.h"
#include "core/base/link_refusal.h"
#include "core/tracker/database_files.h"

namespace furrow {

Status refuseLinks(const RunPaths& paths)
{
    if (auto status = refuseLinkedDatabase(paths.tracker()); !status.ok())
        return status;
    for (const auto& path : { paths.supervisorLock(), paths.checkpointsFolder(), paths.removedManifestsFolder(), paths.unknownCheckpointsFolder(),
             paths.writingNotesFolder(), paths.frozenFolder(), paths.exportsFolder(), paths.meetingsFolder(), paths.viewCacheFolder(), paths.folder() / "cache" })
        if (auto status = refuseLink(path); !status.ok())
            return status;
    for (const auto& folder : { paths.telemetryFolder(), paths.logsFolder(), paths.memoryFolder() }) { // files there are appended to
        if (auto status = refuseLink(folder); !status.ok())
            return status;
        auto entries = entriesOf(folder);
        if (!entries.ok() && entries.error().code != ErrorCode::NotFound)
            return entries.error();
        if (entries.ok())
            for (const auto& entry : entries.value())
                if (auto status = refuseLink(entry); !status.ok())
                    return status;
    }
    return {};
}

} // namespace furrow
