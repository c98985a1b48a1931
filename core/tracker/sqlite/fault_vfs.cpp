#include "core/tracker/sqlite/fault_vfs.h"

#include "core/base/fault_injection.h"
#include "core/tracker/sqlite/vfs_layer.h"

#include <sqlite3.h>

namespace furrow {

namespace {

/// A file of a database on a disk that is full, or dying.
class FailingFile : public VfsFile {
public:
    using VfsFile::VfsFile;

    int read(void* into, int bytes, std::int64_t offset) override
    {
        return sqliteFault() == SqliteFault::Read ? SQLITE_IOERR_READ : VfsFile::read(into, bytes, offset);
    }

    int write(const void* from, int bytes, std::int64_t offset) override
    {
        const auto fault = sqliteFault();
        if (fault == SqliteFault::Full) { // as the system does it: what fits is written
            (void)VfsFile::write(from, bytes / 2, offset);
            return SQLITE_FULL;
        }
        return fault == SqliteFault::Write ? SQLITE_IOERR_WRITE : VfsFile::write(from, bytes, offset);
    }

    int sync(int flags) override
    {
        return sqliteFault() == SqliteFault::Sync ? SQLITE_IOERR_FSYNC : VfsFile::sync(flags);
    }

    int mapShared(int page, int bytes, int extend, void volatile** memory) override
    {
        return extend && sqliteFault() == SqliteFault::Full ? SQLITE_IOERR_SHMSIZE
                                                            : VfsFile::mapShared(page, bytes, extend, memory);
    }
};

} // namespace

void installFaultVfs()
{
    if (!sqliteMayFail())
        return;
    static const VfsLayer layer(
        "fault", [](const std::string&, bool isDatabase, sqlite3_file* real) -> std::unique_ptr<VfsFile> {
            if (isDatabase)
                return std::make_unique<FailingFile>(real);
            return std::make_unique<VfsFile>(real);
        });
}

} // namespace furrow
