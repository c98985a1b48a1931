#include "core/data/hub/fetch_turn.h"

#include "core/base/lock_holder.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"

#include <map>
#include <mutex>

namespace furrow {

namespace {

constexpr double kQuickSeconds = 0.02;
constexpr double kSlowSeconds = 1;
constexpr double kStoppedPatience = 1; // a debugger stops a process for moments
constexpr double kPatience = 30; // a slow line brings some bytes in this time

/// How long this process has waited for the downloads of others since more of them arrived.
class Standstills {
public:
    /// @param lock  stands for the download
    double seconds(const std::filesystem::path& lock, std::uint64_t arrivedBytes)
    {
        const std::lock_guard guard(mutex_);
        Seen& seen = seen_[lock];
        if (seen.bytes != arrivedBytes)
            seen = { arrivedBytes, 0 };
        return seen.seconds;
    }
    void add(const std::filesystem::path& lock, double seconds)
    {
        const std::lock_guard guard(mutex_);
        seen_[lock].seconds += seconds;
    }
    void forget(const std::filesystem::path& lock)
    {
        const std::lock_guard guard(mutex_);
        seen_.erase(lock);
    }

private:
    struct Seen {
        std::uint64_t bytes = 0;
        double seconds = 0;
    };
    std::mutex mutex_;
    std::map<std::filesystem::path, Seen> seen_; ///< guarded by mutex_
};

Standstills& standstills()
{
    static Standstills all;
    return all;
}

/// What is in the cache of a file of the hub, whole or in parts.
std::uint64_t arrivedBytes(const BlockCache& cache, const HubFile& file)
{
    const std::string begin = contentName(file) + ".";
    const auto entries = entriesOf(cache.folder() / kDownloads);
    std::uint64_t sum = 0;
    for (const auto& entry : entries.ok() ? entries.value() : std::vector<std::filesystem::path> {}) {
        if (!utf8Text(entry.filename()).starts_with(begin))
            continue;
        std::error_code gone;
        const auto size = std::filesystem::file_size(entry, gone);
        sum += gone ? 0 : size;
    }
    return sum;
}

} // namespace

Result<std::optional<FileLock>> takeFetchTurn(
    BlockCache& cache, const HubFile& file, const std::string& what, const HubClient& client)
{
    const std::string name = contentName(file) + "." + what;
    const auto lock = cache.claimFile(name);
    for (double waited = 0;;) {
        auto claim = cache.claim(name);
        if (claim.ok()) {
            standstills().forget(lock);
            return std::optional(std::move(claim).value());
        }
        if (claim.error().code != ErrorCode::Busy)
            return claim.error();
        const auto holder = fileLockHolder(lock);
        const Message who = holder ? inWords(*holder) : sentence("another process");
        const double still = standstills().seconds(lock, arrivedBytes(cache, file));
        if (still >= (holder && holder->stopped ? kStoppedPatience : kPatience)) {
            if (waited > 0)
                logWarning(sentence(
                    "Another run fetches %1 and stands still (%2), so it is fetched here too.", { file.path, who }));
            return std::optional<FileLock>();
        }
        const double seconds = waited < kSlowSeconds ? kQuickSeconds : kSlowSeconds / 2;
        waited += seconds;
        standstills().add(lock, seconds);
        if (!client.wait(seconds, sentence("another run fetches %1 (%2)", { file.path, who })))
            return Error { ErrorCode::Cancelled, sentence("Reading %1 was cancelled.", { file.path }) };
    }
}

} // namespace furrow
