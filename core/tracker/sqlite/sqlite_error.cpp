#include "core/tracker/sqlite/sqlite_error.h"

#include "core/base/denied.h"
#include "core/base/disk_room.h"
#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process_limit.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <sqlite3.h>

#include <cerrno>

namespace furrow {

Error busyError(const std::filesystem::path& path)
{
    const auto locks = trackerLocks(path);
    const auto shut = shutBy(path); // who writes is barred by it too, in the middle of a write
    const auto& holder = shut ? shut : locks.writer ? locks.writer : locks.keeper;
    return { ErrorCode::Busy,
        holder ? sentence("%1 has been locked for too long by %2; let it go on or end it, then try again",
                     { utf8Text(path), inWords(*holder) })
               : sentence("%1 is locked by another process for too long; let it go on or end it, then try again",
                     { utf8Text(path) }) };
}

namespace {

/// The first of its files that is there and may not be used, with its owner, who alone can change that.
Status whoDenies(const std::filesystem::path& path, Status (*check)(const std::filesystem::path&))
{
    for (const auto& file : databaseFiles(path))
        if (isThere(file))
            if (auto usable = check(file); !usable.ok())
                return Error { ErrorCode::Io, usable.error().message };
    return {};
}

} // namespace

Error sqliteError(int code, const Message& said, const std::filesystem::path& path, int systemCode)
{
    const Message detail = said.isPlain() ? Message(plainLine(said.text())) : said;
    const std::string file = utf8Text(path);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return { ErrorCode::Corrupt,
            sentence(
                "the tracker %1 is damaged (%2); `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                { file, detail, utf8Text(path.parent_path()) }) };
    case SQLITE_FULL:
        return { ErrorCode::Io,
            isOutOfFiles(path)
                ? sentence("cannot write %1", { file }) + ": " + noRoomInWords(path)
                : sentence("the disk is full: %1 could not be written; free some space and resume", { file }) };
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL: // a WAL that was left could not be taken up, or nobody may read
    case SQLITE_LOCKED: return busyError(path);
    case SQLITE_READONLY:
        if (auto writable = checkWritable(path.parent_path()); !writable.ok())
            return { ErrorCode::Io, writable.error().message };
        if (auto denied = whoDenies(path, checkFileWritable); !denied.ok())
            return denied.error();
        return { ErrorCode::Io,
            sentence("%1 cannot be written; check the permissions of its folder, and whether its disk is read-only",
                { file }) };
    case SQLITE_CANTOPEN:
        if (systemCode == EMFILE)
            return { ErrorCode::Io, sentence("cannot open %1", { file }) + ": " + sentence(kOpenFileLimit) };
        if (auto why = systemCode == EACCES ? whyDenied(path, Access::Read) : Message();
            isForRights(why) && !tells(why, { kDenied })) // else the right to something beside it is missing
            return { ErrorCode::Io, sentence("cannot open %1", { file }) + ": " + why };
        if (isThere(path) && isOutOfFiles(path)) // it needs a file beside it
            return { ErrorCode::Io, sentence("cannot open %1", { file }) + ": " + noRoomInWords(path) };
        if (auto denied = whoDenies(path, checkFileReadable); !denied.ok())
            return denied.error();
        return { isThere(path) ? ErrorCode::Io : ErrorCode::NotFound,
            isThere(path)
                ? sentence("%1 cannot be opened; check the permissions of its folder", { file })
                : sentence("there is no tracker %1; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove",
                      { file, utf8Text(path.parent_path()) }) };
    case SQLITE_INTERRUPT: return { ErrorCode::Cancelled, file + ": " + detail };
    case SQLITE_IOERR:
        if (systemCode == EFBIG)
            return { ErrorCode::Io, sentence("cannot write %1", { file }) + ": " + tooLargeInWords() };
        return { ErrorCode::Io, sentence(kIoFailed, { file, detail }) };
    default: return { ErrorCode::Internal, file + ": " + detail };
    }
}

} // namespace furrow
