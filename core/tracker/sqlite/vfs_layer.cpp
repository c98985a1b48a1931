#include "core/tracker/sqlite/vfs_layer.h"

#include <sqlite3.h>

#include <new>

namespace furrow {

namespace {

struct Handle {
    sqlite3_file base;
    VfsFile* file;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
Handle& handle(sqlite3_file* f) { return *reinterpret_cast<Handle*>(f); }
VfsFile& layered(sqlite3_file* f) { return *handle(f).file; }
sqlite3_file* real(sqlite3_file* f) { return handle(f).real(); }

int close(sqlite3_file* f)
{
    delete handle(f).file;
    return real(f)->pMethods->xClose(real(f));
}
int read(sqlite3_file* f, void* into, int bytes, sqlite3_int64 offset) { return layered(f).read(into, bytes, offset); }
int write(sqlite3_file* f, const void* from, int bytes, sqlite3_int64 offset)
{
    return layered(f).write(from, bytes, offset);
}
int truncate(sqlite3_file* f, sqlite3_int64 size) { return layered(f).truncate(size); }
int sync(sqlite3_file* f, int flags) { return layered(f).sync(flags); }
int fileSize(sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); }
int lock(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int checkLock(sqlite3_file* f, int* held) { return real(f)->pMethods->xCheckReservedLock(real(f), held); }
int control(sqlite3_file* f, int op, void* argument) { return real(f)->pMethods->xFileControl(real(f), op, argument); }
int sectorSize(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file* f) { return layered(f).characteristics(); }
int mapShared(sqlite3_file* f, int page, int bytes, int extend, void volatile** memory)
{
    return layered(f).mapShared(page, bytes, extend, memory);
}
int lockShared(sqlite3_file* f, int offset, int n, int flags)
{
    return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
void barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int unmapShared(sqlite3_file* f, int deletes) { return real(f)->pMethods->xShmUnmap(real(f), deletes); }

const sqlite3_io_methods kMethods { 2, close, read, write, truncate, sync, fileSize, lock, unlock, checkLock, control,
    sectorSize, characteristics, mapShared, lockShared, barrier, unmapShared, nullptr, nullptr };

} // namespace

struct VfsLayer::Calls {
    static VfsLayer& layer(sqlite3_vfs* vfs) { return *static_cast<VfsLayer*>(vfs->pAppData); }

    static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* outFlags)
    {
        auto* mine = new (file) Handle {};
        auto& self = layer(vfs);
        const int code = self.under_->xOpen(self.under_, name, mine->real(), flags, outFlags);
        if (code != SQLITE_OK)
            return code;
        const bool isDatabase
            = name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
        mine->file = self.open_(name ? name : "", isDatabase, mine->real()).release();
        mine->base.pMethods = &kMethods;
        return SQLITE_OK;
    }

    static int erase(sqlite3_vfs* vfs, const char* name, int syncsFolder)
    {
        auto& self = layer(vfs);
        if (self.erased_)
            self.erased_(name);
        return self.under_->xDelete(self.under_, name, syncsFolder);
    }
};

VfsLayer::VfsLayer(const char* name, Open open, Erased erased)
    : under_(sqlite3_vfs_find(nullptr))
    , open_(std::move(open))
    , erased_(std::move(erased))
{
    vfs_ = std::make_unique<sqlite3_vfs>(*under_);
    vfs_->zName = name;
    vfs_->szOsFile = static_cast<int>(sizeof(Handle)) + under_->szOsFile;
    vfs_->pAppData = this;
    vfs_->pNext = nullptr;
    vfs_->xOpen = Calls::open;
    vfs_->xDelete = Calls::erase;
    sqlite3_vfs_register(vfs_.get(), 1);
}

VfsLayer::~VfsLayer()
{
    sqlite3_vfs_unregister(vfs_.get());
    sqlite3_vfs_register(under_, 1);
}

int VfsFile::read(void* into, int bytes, std::int64_t offset)
{
    return real_->pMethods->xRead(real_, into, bytes, offset);
}
int VfsFile::write(const void* from, int bytes, std::int64_t offset)
{
    return real_->pMethods->xWrite(real_, from, bytes, offset);
}
int VfsFile::truncate(std::int64_t size) { return real_->pMethods->xTruncate(real_, size); }
int VfsFile::sync(int flags) { return real_->pMethods->xSync(real_, flags); }
int VfsFile::mapShared(int page, int bytes, int extend, void volatile** memory)
{
    return real_->pMethods->xShmMap(real_, page, bytes, extend, memory);
}
int VfsFile::characteristics() { return real_->pMethods->xDeviceCharacteristics(real_); }

} // namespace furrow
