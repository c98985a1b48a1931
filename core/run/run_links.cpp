#include "core/run/run_links.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {

Status refuse(const std::filesystem::path& path)
{
    if (!isLink(path))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence("%1 is a link, and Furrow writes and deletes nothing through links in a run folder. Put the folder or file itself there, mount the other disk at that place, or move the whole run.", { utf8Text(path) }) };
}

} // namespace

Status refuseLinks(const RunPaths& paths)
{
    const auto wal = [&](const char* ending) { auto path = paths.tracker(); path += ending; return path; };
    for (const auto& path : { paths.tracker(), wal("-wal"), wal("-shm"), wal("-journal"), paths.supervisorLock(), paths.checkpointsFolder(), paths.removedManifestsFolder(), paths.unknownCheckpointsFolder(),
             paths.writingNotesFolder(), paths.frozenFolder(), paths.exportsFolder(), paths.meetingsFolder(), paths.viewCacheFolder(), paths.folder() / "cache" })
        if (auto status = refuse(path); !status.ok())
            return status;
    for (const auto& folder : { paths.telemetryFolder(), paths.logsFolder(), paths.memoryFolder() }) { // files there are appended to
        if (auto status = refuse(folder); !status.ok())
            return status;
        auto entries = entriesOf(folder);
        if (!entries.ok() && entries.error().code != ErrorCode::NotFound)
            return entries.error();
        if (entries.ok())
            for (const auto& entry : entries.value())
                if (auto status = refuse(entry); !status.ok())
                    return status;
    }
    return {};
}

} // namespace furrow
