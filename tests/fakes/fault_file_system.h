#pragma once

#include "core/base/file_system.h"

#include <limits>
#include <map>
#include <mutex>

namespace furrow {

/// A file system that remembers what would survive a power loss, as strictly as POSIX allows: bytes survive by sync()
/// of their file, names (created, renamed, removed) by syncFolder() of their folder, nothing else does. It works on
/// real files below one folder, so that readers which do not go through the interface see the same. Thread-safe.
///
/// The usual test cuts the power at every step:
///     for (int step = 1; step <= stepsOfOneRun; ++step) {
///         FaultFileSystem files(folder); files.cutPowerAt(step);
///         (void)codeUnderTest(files); files.powerLoss();
///         // recover and check
///     }
class FaultFileSystem final : public FileSystem {
public:
    /// @param root  an existing folder; what is in it already counts as durable
    explicit FaultFileSystem(std::filesystem::path root);
    ~FaultFileSystem() override;

    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override;
    Result<std::string> read(const std::filesystem::path& path) override;
    Status createFolders(const std::filesystem::path& path) override;
    Status createFolder(const std::filesystem::path& path) override;
    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override;
    Status syncFolder(const std::filesystem::path& folder) override;
    Status removeAll(const std::filesystem::path& path) override;

    /// Changing operations so far, each append, sync and close included. Reading is none.
    int steps() const;
    /// One line a step: "sync checkpoints/a/weights".
    std::vector<std::string> history() const;

    /// Step number `step` (from 1) fails once with code Io and does nothing. Bytes whose sync failed are lost for
    /// good, even if a later sync succeeds: that is what kernels do.
    void failAt(int step);
    /// From step `step` on nothing works any more, until powerLoss().
    void cutPowerAt(int step);
    /// The disk takes `bytes` more, then appends fail as on a full disk after writing what still fits.
    void fullAfter(std::uint64_t bytes);
    /// Whatever is not durable is gone; the power is back. Files opened before must not be used any more.
    void powerLoss();
    /// Like powerLoss, but of unsynced bytes a beginning survives, and of a folder's unsynced names the first few, as
    /// disks really do. Same seed, same result.
    void powerLossKeepingSome(std::uint64_t seed);

private:
    class File;
    struct Inode;
    struct Place;
    using InodePtr = std::shared_ptr<Inode>;

    Status step(const std::string& operation);
    Result<Place> placeOf(const std::filesystem::path& path);
    InodePtr import(const std::filesystem::path& real);
    Status move(const char* verb, const std::filesystem::path& from, const std::filesystem::path& to, bool replacing);
    std::string shown(const std::filesystem::path& path) const;
    Status append(Inode& inode, const std::filesystem::path& path, std::string_view bytes);
    Status sync(Inode& inode, const std::filesystem::path& path);
    void restore(const std::filesystem::path& real, Inode& folder);

    const std::filesystem::path root_; // set in the constructor, then constant
    mutable std::mutex mutex_;
    // guarded by mutex_
    InodePtr tree_;
    std::vector<std::string> history_;
    int failStep_ = 0; // 0: none
    int powerStep_ = std::numeric_limits<int>::max();
    std::uint64_t bytesLeft_ = UINT64_MAX;
};

} // namespace furrow
