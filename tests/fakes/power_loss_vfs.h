#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace furrow {

/// A layer under SQLite that remembers what of its databases would survive a power loss: bytes survive by the sync of
/// their file, nothing else does. Becomes SQLite's default while it lives; one at a time, one thread. Nothing is really
/// synced, so tests are fast.
class PowerLossVfs {
public:
    PowerLossVfs();
    ~PowerLossVfs();
    PowerLossVfs(const PowerLossVfs&) = delete;
    PowerLossVfs& operator=(const PowerLossVfs&) = delete;

    /// Called before every sync of a file: the moments at which the most can be lost.
    std::function<void()> beforeSync;

    /// Writes what would be on the disk of `database` and its WAL after the power came back, to files of the same names
    /// in `folder`. With a seed other than 0 some of the unsynced writes survive as well, in no order and torn at
    /// sectors, as disks really do.
    void surviving(
        const std::filesystem::path& database, const std::filesystem::path& folder, std::uint64_t seed) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace furrow
