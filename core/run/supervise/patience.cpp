#include "core/run/supervise/patience.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/base/stop_asked.h"
#include "core/data/source/block_cache.h"
#include "core/data/hub/hub_client.h"
#include "core/data/hub/hub_progress.h"
#include "core/run/status/feeder_words.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

namespace furrow {

namespace {

constexpr auto kTellPatience = std::chrono::seconds(2); // for the lock of the tracker: who tells has other work

/// Tells what the feeder does, from any thread. What nobody can be told now is not waited for.
class Voice {
public:
    explicit Voice(FeederLedger opened)
        : ledger_(std::move(opened))
    {
        ledger_.setPatience([](std::chrono::milliseconds waited) { return waited < kTellPatience && !stopAsked(); });
    }
    void tell(const Message& what)
    {
        const std::lock_guard guard(mutex_);
        (void)ledger_.heartbeat(thisProcess(), what);
    }

private:
    FeederLedger ledger_; // guarded by mutex_
    std::mutex mutex_;
};

/// Since when this process cannot reach the data. Thread-safe.
class Outage {
public:
    /// @param forSeconds  that it has lasted, where it begins with this
    std::int64_t begin(const Message& why, double forSeconds = 0)
    {
        const std::lock_guard guard(mutex_);
        if (sinceNs_ == 0)
            sinceNs_ = systemClock().wallNs() - std::llround(1e9 * forSeconds);
        if (!(why == why_))
            logWarning(sentence(kWaitingForData, { why }));
        why_ = why;
        return sinceNs_;
    }
    void end()
    {
        const std::lock_guard guard(mutex_);
        sinceNs_ = 0;
        why_ = {};
    }
    /// The next try is counted down.
    void beginWait()
    {
        const std::lock_guard guard(mutex_);
        ++waits_;
    }
    void endWait()
    {
        const std::lock_guard guard(mutex_);
        --waits_;
        triedNs_ = systemClock().monotonicNs();
    }
    bool isCountedDown()
    {
        const std::lock_guard guard(mutex_);
        return waits_ > 0;
    }
    double secondsOfTry()
    {
        const std::lock_guard guard(mutex_);
        return static_cast<double>(systemClock().monotonicNs() - triedNs_) / 1e9;
    }

private:
    std::mutex mutex_;
    // guarded by mutex_
    std::int64_t sinceNs_ = 0; // 0: it is there
    Message why_;
    int waits_ = 0;
    std::int64_t triedNs_ = 0; // monotonic: when the newest try began
};

Outage outage;

bool wait(FeederLedger& ledger, double seconds, const StopRequest& stop, const std::function<Message(double)>& words)
{
    for (double left = seconds; left > 0 && !stop.requested(); left -= 1) {
        (void)ledger.heartbeat(thisProcess(), words(std::ceil(left)));
        stop.waitFor(std::chrono::milliseconds(std::lround(1000 * std::min(left, 1.0))));
    }
    return !stop.requested();
}

/// A server that answers and then sends nothing: the connection is given up after a while and the rest asked for anew.
DataOutage standstillOf(const HubProgress& progress)
{
    const Message why = progress.sizeBytes == 0
        ? sentence("no byte of %1 comes, %2 are here", { progress.file, Bytes(progress.arrivedBytes) })
        : sentence("no byte of %1 comes, %2 of %3 are here",
              { progress.file, Bytes(progress.arrivedBytes), Bytes(progress.sizeBytes) });
    const std::int64_t sinceNs = outage.begin(why, progress.stillSeconds);
    const double stood = std::min(progress.stillSeconds, outage.secondsOfTry());
    return { why, sinceNs, std::max(1.0, std::ceil(static_cast<double>(TransportLimits {}.stallSeconds) - stood)) };
}

} // namespace

bool waitAloud(FeederLedger& ledger, const Message& why, double seconds, const StopRequest& stop)
{
    return wait(ledger, seconds, stop, [&](double left) { return sentence(kTryingAgain, { why, Real(left, 0) }); });
}

bool waitForDataAloud(FeederLedger& ledger, const Message& why, double seconds, const StopRequest& stop)
{
    const std::int64_t sinceNs = outage.begin(why);
    outage.beginWait();
    const bool goesOn
        = wait(ledger, seconds, stop, [&](double left) { return inWords(DataOutage { why, sinceNs, left }); });
    outage.endWait();
    return goesOn;
}

void dataCame() { outage.end(); }

Status waitForTheHubAloud(const RunPaths& paths, int transfers, const StopRequest& stop)
{
    // Their own connections: blocks are read ahead on another thread than the feeder's. The client lets one request
    // wait at a time; what is told of a check may be told meanwhile.
    FURROW_TRY_ASSIGN(auto opened, FeederLedger::open(paths.tracker()));
    opened.setPatience([&stop](std::chrono::milliseconds) { return !stop.requested(); });
    auto ledger = std::make_shared<FeederLedger>(std::move(opened));
    RetryPolicy retry;
    retry.attempts = std::numeric_limits<int>::max();
    retry.wait
        = [ledger, &stop](double seconds, const Message& why) { return waitForDataAloud(*ledger, why, seconds, stop); };
    FURROW_TRY_ASSIGN(auto teller, FeederLedger::open(paths.tracker()));
    auto voice = std::make_shared<Voice>(std::move(teller));
    setHubProgress([voice](const HubProgress& progress) {
        if (outage.isCountedDown())
            return; // why, and until when, is being told
        if (!progress.isStill())
            dataCame();
        voice->tell(progress.isStill() ? inWords(standstillOf(progress)) : toString(progress));
    });
    setSharedHubClient(
        std::make_shared<HubClient>(HubSettings::fromEnvironment(), [] { return curlTransport(); }, transfers, retry));
    return {};
}

Status useTheCacheWithCare(const RunPaths& paths, std::shared_ptr<const RunFolderGuard> guard)
{
    FURROW_TRY_ASSIGN(auto opened, FeederLedger::open(paths.tracker()));
    auto voice = std::make_shared<Voice>(std::move(opened));
    CacheUse use;
    use.tellWait = [voice](const Message& why) { voice->tell(why); };
    use.mayChange = [guard = std::move(guard)] { return guard->checkReplaced(); };
    setCacheUse(std::move(use));
    return {};
}

} // namespace furrow
