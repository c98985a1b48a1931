#include "power_loss_vfs.h"

#include "core/base/random.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <new>
#include <vector>

namespace furrow {

namespace {

struct Write {
    std::uint64_t offset = 0;
    std::string bytes;
    bool truncates = false; ///< to `offset`
};

struct Disk {
    std::string durable;
    std::vector<Write> pending;

    static void apply(std::string& image, const Write& write)
    {
        if (write.truncates) {
            image.resize(write.offset);
            return;
        }
        image.resize(std::max<std::size_t>(image.size(), write.offset + write.bytes.size()));
        image.replace(write.offset, write.bytes.size(), write.bytes);
    }
    void sync()
    {
        for (const auto& write : pending)
            apply(durable, write);
        pending.clear();
    }
};

sqlite3_vfs gVfs; // of the living PowerLossVfs
sqlite3_vfs* gReal = nullptr;
PowerLossVfs* gOwner = nullptr;
std::map<std::string, Disk> gDisks; // by path

struct File {
    sqlite3_file base;
    Disk* disk; // null: a file that nobody expects to survive
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File& self(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return self(file).real(); }

int close(sqlite3_file* f) { return real(f)->pMethods ? real(f)->pMethods->xClose(real(f)) : SQLITE_OK; }
int read(sqlite3_file* f, void* into, int size, sqlite3_int64 offset) { return real(f)->pMethods->xRead(real(f), into, size, offset); }
int write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 offset)
{
    if (self(f).disk)
        self(f).disk->pending.push_back({ static_cast<std::uint64_t>(offset), std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)) });
    return real(f)->pMethods->xWrite(real(f), bytes, size, offset);
}
int truncate(sqlite3_file* f, sqlite3_int64 size)
{
    if (self(f).disk)
        self(f).disk->pending.push_back({ static_cast<std::uint64_t>(size), {}, true });
    return real(f)->pMethods->xTruncate(real(f), size);
}
int sync(sqlite3_file* f, int)
{
    if (gOwner->beforeSync)
        gOwner->beforeSync();
    if (self(f).disk)
        self(f).disk->sync();
    return SQLITE_OK;
}
int fileSize(sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); }
int lock(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int checkLock(sqlite3_file* f, int* held) { return real(f)->pMethods->xCheckReservedLock(real(f), held); }
int control(sqlite3_file* f, int op, void* argument) { return real(f)->pMethods->xFileControl(real(f), op, argument); }
int sectorSize(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file*) { return 0; } // no promise that a disk might not keep
int shmMap(sqlite3_file* f, int page, int size, int extend, void volatile** memory) { return real(f)->pMethods->xShmMap(real(f), page, size, extend, memory); }
int shmLock(sqlite3_file* f, int offset, int n, int flags) { return real(f)->pMethods->xShmLock(real(f), offset, n, flags); }
void shmBarrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shmUnmap(sqlite3_file* f, int deletes) { return real(f)->pMethods->xShmUnmap(real(f), deletes); }

const sqlite3_io_methods kMethods { 2, close, read, write, truncate, sync, fileSize, lock, unlock, checkLock, control, sectorSize, characteristics, shmMap, shmLock, shmBarrier, shmUnmap, nullptr,
    nullptr };

int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* outFlags)
{
    auto* mine = new (file) File {};
    const bool survives = name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    const int code = gReal->xOpen(gReal, name, mine->real(), flags, outFlags);
    if (code != SQLITE_OK)
        return code;
    mine->base.pMethods = &kMethods;
    mine->disk = survives ? &gDisks[name] : nullptr;
    return SQLITE_OK;
}

int erase(sqlite3_vfs*, const char* name, int syncsFolder)
{
    gDisks.erase(name);
    return gReal->xDelete(gReal, name, syncsFolder);
}

/// Torn at sectors: of every unsynced write some sectors arrive.
std::string withSomeOf(const Disk& disk, std::uint64_t seed)
{
    constexpr std::size_t kSector = 512;
    std::string image = disk.durable;
    Random random(seed);
    for (const auto& write : disk.pending) {
        if (write.truncates) {
            if (random.below(2) == 0)
                Disk::apply(image, write);
            continue;
        }
        for (std::size_t at = 0; at < write.bytes.size(); at += kSector)
            if (random.below(3) > 0)
                Disk::apply(image, { write.offset + at, write.bytes.substr(at, kSector) });
    }
    return image;
}

} // namespace

PowerLossVfs::PowerLossVfs()
{
    gReal = sqlite3_vfs_find(nullptr);
    gOwner = this;
    gDisks.clear();
    gVfs = *gReal;
    gVfs.zName = "power-loss";
    gVfs.szOsFile = static_cast<int>(sizeof(File)) + gReal->szOsFile;
    gVfs.xOpen = open;
    gVfs.xDelete = erase;
    sqlite3_vfs_register(&gVfs, 1);
}

PowerLossVfs::~PowerLossVfs()
{
    sqlite3_vfs_unregister(&gVfs);
    sqlite3_vfs_register(gReal, 1);
    gOwner = nullptr;
}

void PowerLossVfs::surviving(const std::filesystem::path& database, const std::filesystem::path& folder, std::uint64_t seed) const
{
    for (const char* ending : { "", "-wal" }) {
        const auto target = folder / (database.filename().string() + ending);
        const auto found = gDisks.find(database.string() + ending);
        std::filesystem::remove(target);
        if (found != gDisks.end())
            std::ofstream(target, std::ios::binary) << (seed == 0 ? found->second.durable : withSomeOf(found->second, seed));
    }
}

} // namespace furrow
