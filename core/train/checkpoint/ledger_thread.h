#pragma once

#include "core/base/clock.h"
#include "core/tracker/worker_ledger.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace furrow {

/// The worker's only ledger connection, on its own thread `ledger`, so that training never waits for SQLite: it holds
/// one claim ahead, renews the lease from the progress it is told, and reads the signals ten times a second. Every
/// write is done in the order in which it was asked for. Thread-safe.
class LedgerThread {
public:
    using Next = std::variant<Claim, NothingToClaim>;

    struct Options {
        std::filesystem::path tracker;
        std::string runId;
        WorkerRegistration registration;
        /// Told of each claim as soon as it is held, so that its data can be read ahead. On the ledger thread; must not
        /// block.
        std::function<void(const Claim&)> onClaimed;
        /// The watchdog: told once when no progress came for longer than this (or ten times the slowest interval so
        /// far, if that is more). On the ledger thread; must not block.
        double stuckSeconds = 30;
        double leastLeaseSeconds = 60;
        std::function<void(double seconds, const WorkerLedger::Progress&)> onStuck;
        /// Called some times a second on a thread that waits for the ledger, whoever holds its lock.
        std::function<void()> whileWaiting;
    };
    /// Opens the tracker, registers the incarnation and starts the thread.
    static Result<std::unique_ptr<LedgerThread>> start(Options options);
    ~LedgerThread();
    LedgerThread(const LedgerThread&) = delete;
    LedgerThread& operator=(const LedgerThread&) = delete;

    IncarnationId incarnation() const { return incarnation_; }
    /// The first error of any write; afterwards nothing more is written. Cancelled: the lease was lost.
    Status status() const;

    /// The claim held ahead, or a fresh one; another one is asked for behind it while `prefetch` is on.
    Result<Next> next();
    /// Gives the claim held ahead back and stops holding one until next() is called again.
    Status releasePrefetched();
    void begin(const Claim& claim);
    /// Written with what follows: the claim after it, or at the latest the next look at signals.
    void finish(const Claim& claim, const ChunkOutcome& outcome, bool partly);
    void fail(const Claim& claim, const Error& why);

    /// There was progress: the lease is renewed with it, at most twice a second.
    void progress(const WorkerLedger::Progress& progress);
    /// The newest progress is in the ledger when this returns, for those who read it after this worker has ended.
    Status flushProgress();

    /// Newest signals, at most about 0.1 s old.
    WorkerLedger::Signals signals() const;

    /// Takes one optimiser step from the run's budget; false when it is spent. Reserves some seconds' worth at a time.
    Result<bool> takeStep();
    /// Gives the step just taken back (it was left out).
    void untakeStep();
    /// Returns what is reserved and unused.
    Status returnSteps();

    /// Runs `work` on the ledger thread and waits for its result. Does it again while a disk refuses: what it refused
    /// is rolled back.
    template <typename Work> auto call(Work work) -> decltype(work(std::declval<WorkerLedger&>()))
    {
        using Value = decltype(work(std::declval<WorkerLedger&>()));
        auto promise = std::make_shared<std::promise<Value>>();
        auto answer = promise->get_future();
        post([promise, work = std::move(work)](
                 WorkerLedger& ledger) mutable { promise->set_value(outlastDisk([&] { return work(ledger); })); });
        return awaited(answer);
    }
    /// Runs `work` later, in order.
    void post(std::function<void(WorkerLedger&)> work);
    /// Like post for a write, which may share a transaction with its neighbours and a claim; an error becomes status().
    void postWrite(std::function<Status(WorkerLedger&)> work);

    /// How long next() made the training thread wait: percentiles of the newest 4,096 claims, the longest of all.
    struct WaitTimes {
        std::int64_t count = 0;
        double p50Ms = 0;
        double p99Ms = 0;
        double maxMs = 0;
    };
    WaitTimes claimWaits() const;
    /// CPU-independent cost of the ledger to this worker: seconds spent inside ledger calls, on the ledger thread.
    double busySeconds() const;

    /// A disk that is full or away may be there again: waits for it, for a worker that ended would lose its work. One
    /// that was asked to end gives up after a while.
    template <typename Work> static auto outlastDisk(Work work)
    {
        for (bool isSaid = false;; isSaid = true) {
            auto result = work();
            if (result.ok() || !isOutlasted(result.error()))
                return result;
            waitForDisk(result.error(), isSaid);
        }
    }

private:
    static constexpr auto kWaitTurn = std::chrono::milliseconds(250);
    template <typename Value> Value awaited(std::future<Value>& answer) const
    {
        while (answer.wait_for(kWaitTurn) != std::future_status::ready)
            if (options_.whileWaiting)
                options_.whileWaiting();
        return answer.get();
    }
    static bool isOutlasted(const Error& error);
    static void waitForDisk(const Error& error, bool isSaid);
    LedgerThread(WorkerLedger ledger, Options options, IncarnationId incarnation);
    void run(std::stop_token stop);
    struct Queued {
        std::function<void(WorkerLedger&)> alone; // or
        std::function<Status(WorkerLedger&)> write;
    };
    void enqueue(Queued work, bool soon);
    bool wantsClaim() const; // mutex_ held
    void writeAndClaim(std::unique_lock<std::mutex>& lock, bool mayClaim);
    void takeClaimed(Next claimed); // mutex_ held
    void renewIfDue(std::unique_lock<std::mutex>& lock);
    void watch(std::unique_lock<std::mutex>& lock);
    void readSignalsIfDue(std::unique_lock<std::mutex>& lock);
    template <typename Work> auto unlocked(std::unique_lock<std::mutex>& lock, Work work);
    void setError(const Error& error); // mutex_ held

    // set in the constructor, then constant
    WorkerLedger ledger_; // touched on the ledger thread only
    Options options_;
    IncarnationId incarnation_;

    // guarded by mutex_
    mutable std::mutex mutex_;
    std::condition_variable wake_; // the ledger thread sleeps here
    std::condition_variable changed_; // next() sleeps here
    std::deque<Queued> queue_;
    std::optional<Error> error_;
    bool saidDisk_ = false; ///< since the last write that went well
    bool wantPrefetch_ = false;
    std::optional<Claim> prefetched_;
    std::optional<Result<Next>> answer_; // of a next() that found nothing held
    bool asking_ = false; // a next() waits
    std::optional<WorkerLedger::Progress> progress_;
    bool progressNew_ = false;
    std::int64_t lastProgressNs_ = 0;
    bool toldStuck_ = false; // since lastProgressNs_
    std::int64_t slowestIntervalNs_ = 0;
    std::int64_t lastRenewNs_ = 0;
    std::int64_t lastSignalsNs_ = 0;
    WorkerLedger::Signals signals_;
    std::vector<float> waitsMs_; // ring of the newest kMaxWaits
    std::size_t waitsSeen_ = 0;
    double longestWaitMs_ = 0;
    std::int64_t busyNs_ = 0;

    // touched by the training thread only
    std::int64_t reserved_ = 0;
    std::int64_t lot_ = 8;
    std::int64_t lastReserveNs_ = 0;
    std::optional<std::future<Result<std::int64_t>>> coming_; // a lot asked for ahead

    std::jthread thread_; // last: joined before the rest goes
};

} // namespace furrow
