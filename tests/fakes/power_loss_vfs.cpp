#include "power_loss_vfs.h"

#include "core/base/random.h"
#include "core/tracker/sqlite/vfs_layer.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <map>
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

/// Nothing is really synced: what survives is remembered instead.
class RememberedFile : public VfsFile {
public:
    RememberedFile(sqlite3_file* real, Disk& disk, const std::function<void()>& beforeSync)
        : VfsFile(real)
        , disk_(disk)
        , beforeSync_(beforeSync)
    {
    }
    int write(const void* from, int bytes, std::int64_t offset) override
    {
        disk_.pending.push_back({ static_cast<std::uint64_t>(offset),
            std::string(static_cast<const char*>(from), static_cast<std::size_t>(bytes)) });
        return VfsFile::write(from, bytes, offset);
    }
    int truncate(std::int64_t size) override
    {
        disk_.pending.push_back({ static_cast<std::uint64_t>(size), {}, true });
        return VfsFile::truncate(size);
    }
    int sync(int) override
    {
        if (beforeSync_)
            beforeSync_();
        disk_.sync();
        return SQLITE_OK;
    }
    int characteristics() override { return 0; } // no promise that a disk might not keep

private:
    Disk& disk_;
    const std::function<void()>& beforeSync_;
};

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

struct PowerLossVfs::State {
    std::map<std::string, Disk> disks; // by path
    std::unique_ptr<VfsLayer> layer;
};

PowerLossVfs::PowerLossVfs()
    : state_(std::make_unique<State>())
{
    const auto open = [this](const std::string& path, bool isDatabase, sqlite3_file* real) -> std::unique_ptr<VfsFile> {
        if (!isDatabase)
            return std::make_unique<VfsFile>(real);
        return std::make_unique<RememberedFile>(real, state_->disks[path], beforeSync);
    };
    state_->layer = std::make_unique<VfsLayer>(
        "power-loss", open, [this](const std::string& path) { state_->disks.erase(path); });
}

PowerLossVfs::~PowerLossVfs() = default;

void PowerLossVfs::surviving(
    const std::filesystem::path& database, const std::filesystem::path& folder, std::uint64_t seed) const
{
    for (const char* ending : { "", "-wal" }) {
        const auto target = folder / (database.filename().string() + ending);
        const auto found = state_->disks.find(database.string() + ending);
        std::filesystem::remove(target);
        if (found != state_->disks.end())
            std::ofstream(target, std::ios::binary)
                << (seed == 0 ? found->second.durable : withSomeOf(found->second, seed));
    }
}

} // namespace furrow
