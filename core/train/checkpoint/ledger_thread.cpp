#include "core/train/checkpoint/ledger_thread.h"

#include "core/base/end_patience.h"
#include "core/base/log.h"
#include "core/base/process_limit.h"
#include "core/base/stop_asked.h"

#include <algorithm>
#include <atomic>

// One loop on one thread: queued work first, with it a wanted claim, then renewal and signals when they are due. The
// mutex is never held while SQLite works.

namespace furrow {

namespace {

constexpr double kFirstLeaseSeconds = 300; // first-time work: kernel search, warm-up
/// A storm asks for short ones, so that it need not wait.
const double kAskedLeaseSeconds = faultNumber("FURROW_LEASE_S", 0);
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kRenewEveryNs = kSecondNs / 2;
constexpr std::int64_t kSignalsEveryNs = kSecondNs / 10; // others wait while this worker has not seen a merge round
constexpr auto kMergePoll = std::chrono::milliseconds(10);
constexpr auto kDiskPause = std::chrono::milliseconds(500);
constexpr std::size_t kMaxWaits = 4096;
constexpr std::int64_t kMaxLot = 4096;

std::int64_t nowNs() { return systemClock().monotonicNs(); }

} // namespace

Result<std::unique_ptr<LedgerThread>> LedgerThread::start(Options options)
{
    FURROW_TRY_ASSIGN(
        auto ledger, outlastDisk([&options] { return WorkerLedger::open(options.tracker, options.runId); }));
    ledger.setPatience([](std::chrono::milliseconds) {
        return true;
    }); // whoever holds the lock, it is outlasted; a kill ends the waiting
    const double lease = kAskedLeaseSeconds > 0 ? 4 * kAskedLeaseSeconds : kFirstLeaseSeconds;
    std::optional<IncarnationId> incarnation;
    for (;; std::this_thread::sleep_for(kMergePoll)) {
        FURROW_TRY_ASSIGN(incarnation, outlastDisk([&] { return ledger.start(options.registration, lease); }));
        if (incarnation)
            break;
    }
    FURROW_TRY_ASSIGN(auto signals, ledger.signals());
    auto thread = std::unique_ptr<LedgerThread>(new LedgerThread(std::move(ledger), std::move(options), *incarnation));
    thread->signals_ = signals;
    thread->thread_ = std::jthread([self = thread.get()](std::stop_token stop) { self->run(stop); });
    return thread;
}

LedgerThread::LedgerThread(WorkerLedger ledger, Options options, IncarnationId incarnation)
    : ledger_(std::move(ledger))
    , options_(std::move(options))
    , incarnation_(incarnation)
    , lastProgressNs_(nowNs())
    , lastRenewNs_(lastProgressNs_)
    , lastSignalsNs_(lastProgressNs_)
{
}

bool LedgerThread::isOutlasted(const Error& error)
{
    static std::atomic<std::int64_t> askedNs { 0 }; // to end, while a disk was waited for; 0: it was not
    if (!stopAsked())
        askedNs = 0;
    else if (askedNs == 0)
        askedNs = nowNs();
    return mayPass(error)
        && (askedNs == 0 || static_cast<double>(nowNs() - askedNs) / kSecondNs < endPatienceSeconds());
}

void LedgerThread::waitForDisk(const Error& error, bool isSaid)
{
    if (!isSaid)
        logWarning(withFullStop(error.message) + " This worker waits and tries again.");
    std::this_thread::sleep_for(kDiskPause);
}

LedgerThread::~LedgerThread()
{
    {
        const std::lock_guard lock(mutex_);
        thread_.request_stop();
    }
    wake_.notify_all();
}

Status LedgerThread::status() const
{
    const std::lock_guard lock(mutex_);
    return error_ ? Status(*error_) : Status {};
}

void LedgerThread::setError(const Error& error)
{
    if (!error_)
        error_ = error;
    changed_.notify_all();
}

template <typename Work> auto LedgerThread::unlocked(std::unique_lock<std::mutex>& lock, Work work)
{
    lock.unlock();
    const std::int64_t began = nowNs();
    auto result = work();
    const std::int64_t took = nowNs() - began;
    lock.lock();
    busyNs_ += took;
    if (took > kSecondNs) // training may have waited for it: that is no slow step, and nothing hangs
        lastProgressNs_ = std::min(nowNs(), lastProgressNs_ + took);
    return result;
}

void LedgerThread::run(std::stop_token stop)
{
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested() || !queue_.empty()) {
        if (!queue_.empty() && queue_.front().alone) {
            auto work = std::move(queue_.front().alone);
            queue_.pop_front();
            unlocked(lock, [&] {
                work(ledger_);
                return 0;
            });
            continue;
        }
        if (error_) {
            std::erase_if(queue_, [](const Queued& work) { return !work.alone; });
            if (!queue_.empty())
                continue;
        } else {
            writeAndClaim(lock, !stop.stop_requested());
            renewIfDue(lock);
            readSignalsIfDue(lock);
            watch(lock);
        }
        if (queue_.empty() && !stop.stop_requested() && !(asking_ && !error_))
            wake_.wait_for(lock, std::chrono::milliseconds(50));
    }
}

bool LedgerThread::wantsClaim() const { return !prefetched_ && (asking_ || wantPrefetch_); }

/// The writes at the head of the queue and a wanted claim, in one transaction.
void LedgerThread::writeAndClaim(std::unique_lock<std::mutex>& lock, bool mayClaim)
{
    std::vector<std::function<Status(WorkerLedger&)>> writes;
    for (; !queue_.empty() && queue_.front().write; queue_.pop_front())
        writes.push_back(std::move(queue_.front().write));
    const bool claims = mayClaim && queue_.empty() && wantsClaim(); // what waits in the queue may be a release
    if (writes.empty() && !claims)
        return;
    std::optional<Error> failure; // the first one, which says what was being done
    std::optional<Next> claimed;
    const auto keep = [&](const Error& error) {
        if (!failure)
            failure = error;
    };
    const auto all = [&] {
        for (const auto& write : writes)
            if (const auto written = write(ledger_); !written.ok())
                keep(written.error());
        if (!claims)
            return;
        if (auto answer = ledger_.claim(); answer.ok())
            claimed = std::move(answer).value();
        else
            keep(answer.error());
    };
    if (const auto committed = unlocked(lock, [&] { return ledger_.together(all); }); !committed.ok())
        keep(committed.error());
    if (failure && isOutlasted(*failure)) { // all of it is rolled back
        for (auto write = writes.rbegin(); write != writes.rend(); ++write)
            queue_.push_front({ {}, std::move(*write) });
        unlocked(lock, [&] {
            waitForDisk(*failure, std::exchange(saidDisk_, true));
            return 0;
        });
        return;
    }
    saidDisk_ = false;
    if (failure)
        setError(*failure);
    else if (claimed)
        takeClaimed(std::move(*claimed));
}

void LedgerThread::takeClaimed(Next claimed)
{
    if (auto* claim = std::get_if<Claim>(&claimed)) {
        prefetched_ = std::move(*claim);
        if (options_.onClaimed)
            options_.onClaimed(*prefetched_);
    } else {
        wantPrefetch_ = false; // asked again when the training thread needs one
        if (asking_)
            answer_.emplace(Next { std::get<NothingToClaim>(claimed) });
    }
    if (asking_) {
        asking_ = false;
        changed_.notify_all();
    }
}

void LedgerThread::renewIfDue(std::unique_lock<std::mutex>& lock)
{
    const std::int64_t now = nowNs();
    if (!progressNew_ || now - lastRenewNs_ < kRenewEveryNs)
        return;
    lastRenewNs_ = now;
    progressNew_ = false;
    const auto progress = *progress_;
    const double seconds = std::max(kAskedLeaseSeconds > 0 ? kAskedLeaseSeconds : options_.leastLeaseSeconds,
        (kAskedLeaseSeconds > 0 ? 2 : 20) * static_cast<double>(slowestIntervalNs_) / kSecondNs);
    if (auto renewed = unlocked(lock, [&] { return ledger_.renew(progress, seconds); }); !renewed.ok()) {
        progressNew_ = true;
        if (!isOutlasted(renewed.error())) // else the next time
            setError(renewed.error());
    }
}

void LedgerThread::watch(std::unique_lock<std::mutex>& lock)
{
    if (!options_.onStuck || !progress_ || toldStuck_)
        return;
    const double still = static_cast<double>(nowNs() - lastProgressNs_) / kSecondNs;
    if (still < std::max(options_.stuckSeconds, 10 * static_cast<double>(slowestIntervalNs_) / kSecondNs))
        return;
    toldStuck_ = true;
    unlocked(lock, [&, progress = *progress_] {
        options_.onStuck(still, progress);
        return 0;
    });
}

void LedgerThread::readSignalsIfDue(std::unique_lock<std::mutex>& lock)
{
    const std::int64_t now = nowNs();
    if (now - lastSignalsNs_ < kSignalsEveryNs)
        return;
    lastSignalsNs_ = now;
    auto read = unlocked(lock, [&] { return ledger_.signals(); });
    if (read.ok())
        signals_ = read.value();
    else if (!isOutlasted(read.error())) // else the next time
        setError(read.error());
}

Result<LedgerThread::Next> LedgerThread::next()
{
    const std::int64_t began = nowNs();
    std::unique_lock lock(mutex_);
    if (!prefetched_ && !error_) {
        asking_ = true;
        wake_.notify_all();
        while (!changed_.wait_for(lock, kWaitTurn, [&] { return error_ || !asking_; })) {
            lock.unlock();
            if (options_.whileWaiting)
                options_.whileWaiting();
            lock.lock();
        }
    }
    if (error_)
        return *error_;
    if (!prefetched_) {
        auto answer = std::move(*answer_);
        answer_.reset();
        return answer;
    }
    auto claim = std::move(*prefetched_);
    prefetched_.reset();
    wantPrefetch_ = true;
    wake_.notify_all();
    const auto waitedMs = static_cast<float>(static_cast<double>(nowNs() - began) / 1e6);
    if (waitsMs_.size() < kMaxWaits)
        waitsMs_.push_back(waitedMs);
    else
        waitsMs_[waitsSeen_ % kMaxWaits] = waitedMs;
    ++waitsSeen_;
    longestWaitMs_ = std::max(longestWaitMs_, static_cast<double>(waitedMs));
    return Next { std::move(claim) };
}

Status LedgerThread::releasePrefetched()
{
    {
        const std::lock_guard lock(mutex_);
        wantPrefetch_ = false;
    }
    // Queued behind a claim that may be under way on the ledger thread: what that one brings is given back too.
    return call([this, held = std::optional<Claim>()](WorkerLedger& ledger) mutable -> Status {
        if (const std::lock_guard lock(mutex_); prefetched_)
            held = std::exchange(prefetched_, std::nullopt);
        return held ? ledger.release(*held) : Status {};
    });
}

void LedgerThread::begin(const Claim& claim)
{
    postWrite([claim](WorkerLedger& ledger) { return ledger.begin(claim); });
}

void LedgerThread::finish(const Claim& claim, const ChunkOutcome& outcome, bool partly)
{
    enqueue({ {}, [claim, outcome, partly](WorkerLedger& ledger) { return ledger.finish(claim, outcome, partly); } },
        false);
}

void LedgerThread::fail(const Claim& claim, const Error& why)
{
    postWrite([claim, why](WorkerLedger& ledger) { return ledger.fail(claim, why); });
}

void LedgerThread::progress(const WorkerLedger::Progress& progress)
{
    const std::int64_t now = nowNs();
    const std::lock_guard lock(mutex_);
    const bool phaseChanged = !progress_ || progress_->phase != progress.phase;
    slowestIntervalNs_ = std::max(slowestIntervalNs_, now - lastProgressNs_);
    lastProgressNs_ = now;
    toldStuck_ = false;
    progress_ = progress;
    progressNew_ = true;
    if (phaseChanged) {
        lastRenewNs_ = 0;
        wake_.notify_all();
    }
}

Status LedgerThread::flushProgress()
{
    return call([this](WorkerLedger& ledger) -> Status {
        std::optional<WorkerLedger::Progress> newest;
        {
            const std::lock_guard lock(mutex_);
            newest = progress_;
        }
        return newest ? ledger.renew(*newest, options_.leastLeaseSeconds) : Status {};
    });
}

WorkerLedger::Signals LedgerThread::signals() const
{
    const std::lock_guard lock(mutex_);
    return signals_;
}

Result<bool> LedgerThread::takeStep()
{
    const auto ask = [this] {
        const std::int64_t now = nowNs();
        if (lastReserveNs_ > 0) // a lot should last about two seconds
            lot_ = std::clamp<std::int64_t>(
                lot_ * 2 * kSecondNs / std::max<std::int64_t>(now - lastReserveNs_, 1), 1, std::min(kMaxLot, lot_ * 2));
        lastReserveNs_ = now;
        auto promise = std::make_shared<std::promise<Result<std::int64_t>>>();
        coming_ = promise->get_future();
        post([promise, lot = lot_](
                 WorkerLedger& ledger) { promise->set_value(outlastDisk([&] { return ledger.reserveSteps(lot); })); });
    };
    while (reserved_ == 0) {
        const bool askedAhead = coming_.has_value();
        if (!askedAhead)
            ask();
        auto granted = std::exchange(coming_, std::nullopt);
        FURROW_TRY_ASSIGN(reserved_, awaited(*granted));
        if (reserved_ == 0 && !askedAhead) // a nought of some time ago is asked again: others may have returned steps
            return false;
    }
    --reserved_;
    if (reserved_ <= lot_ / 4 && !coming_)
        ask();
    return true;
}

void LedgerThread::untakeStep() { ++reserved_; }

Status LedgerThread::returnSteps()
{
    if (coming_) {
        auto coming = std::exchange(coming_, std::nullopt);
        FURROW_TRY_ASSIGN(const auto granted, awaited(*coming));
        reserved_ += granted;
    }
    lastReserveNs_ = 0;
    if (reserved_ == 0)
        return {};
    const std::int64_t unused = std::exchange(reserved_, 0);
    return call([unused](WorkerLedger& ledger) { return ledger.returnSteps(unused); });
}

void LedgerThread::post(std::function<void(WorkerLedger&)> work) { enqueue({ std::move(work), {} }, true); }

void LedgerThread::postWrite(std::function<Status(WorkerLedger&)> work) { enqueue({ {}, std::move(work) }, true); }

void LedgerThread::enqueue(Queued work, bool soon)
{
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
    }
    if (soon)
        wake_.notify_all();
}

LedgerThread::WaitTimes LedgerThread::claimWaits() const
{
    std::vector<float> sorted;
    WaitTimes times;
    {
        const std::lock_guard lock(mutex_);
        sorted = waitsMs_;
        times.count = static_cast<std::int64_t>(waitsSeen_);
        times.maxMs = longestWaitMs_;
    }
    if (sorted.empty())
        return times;
    std::sort(sorted.begin(), sorted.end());
    times.p50Ms = sorted[(sorted.size() - 1) / 2];
    times.p99Ms = sorted[(sorted.size() - 1) * 99 / 100];
    return times;
}

double LedgerThread::busySeconds() const
{
    const std::lock_guard lock(mutex_);
    return static_cast<double>(busyNs_) / kSecondNs;
}

} // namespace furrow
