// One thread for each transport moves parts; the calling thread takes what arrives and does the waiting between tries,
// so that sinks, progress and the words of a wait need no lock, and one wait holds for all.

#include "core/data/hub/transfers.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace furrow {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostWaiting = 4u << 20; ///< bytes that arrived and were not taken yet

Error stoppedError()
{
    return { ErrorCode::Cancelled, sentence("Reading was stopped.") }; // the caller knows what
}

class Transfers {
public:
    Transfers(const RetryPolicy& retry, std::size_t count, std::size_t lanes, const MovePart& move)
        : retry_(retry)
        , move_(move)
        , isWhole_(count)
        , window_(2 * lanes)
        , running_(lanes)
    {
    }

    /// Of one lane, on its thread.
    void work(HttpTransport& transport)
    {
        GatedTransport gated(*this, transport);
        RetryPolicy aloud = retry_;
        aloud.wait = [this](double seconds, const Message& why) { return waitWithAll(seconds, why); };
        const TransferLane lane { gated, aloud };
        while (const auto part = nextPart()) {
            const auto status
                = move_(*part, lane, [this, &part](std::string_view bytes) { return arrived(*part, bytes); });
            if (!finish(*part, status))
                break;
        }
        const std::lock_guard guard(mutex_);
        --running_;
        changed_.notify_all();
    }

    /// On the calling thread, until all lanes have ended.
    Status serve(const PartSink& sink)
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return !queue_.empty() || isWaitDue() || running_ == 0; });
            if (!queue_.empty())
                giveOut(lock, sink);
            else if (isWaitDue())
                waitForAll(lock);
            else
                return failed_;
        }
    }

private:
    struct Arrived {
        std::size_t part = 0;
        std::string bytes;
    };
    struct Wait {
        double seconds = 0;
        Message why;
        Clock::time_point asked = Clock::now();
        double left() const { return seconds - std::chrono::duration<double>(Clock::now() - asked).count(); }
    };

    /// Sends nothing while a wait is on, and nothing more once all are to stop.
    class GatedTransport : public HttpTransport {
    public:
        GatedTransport(Transfers& all, HttpTransport& transport)
            : all_(all)
            , transport_(transport)
        {
        }
        Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
        {
            if (!all_.passGate())
                return stoppedError();
            HttpRequest stoppable = request;
            stoppable.stop = all_.stop_.get_token();
            return transport_.send(stoppable, sink);
        }
        void dropConnections() override { transport_.dropConnections(); }

    private:
        Transfers& all_;
        HttpTransport& transport_;
    };

    bool isStopped() const { return stop_.stop_requested(); }
    bool isWaitDue() const { return !waits_.empty() && !isStopped(); }

    bool passGate()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waits_.empty() || isStopped(); });
        return !isStopped();
    }

    bool waitWithAll(double seconds, const Message& why)
    {
        std::unique_lock lock(mutex_);
        waits_.push_back({ seconds, why });
        changed_.notify_all();
        changed_.wait(lock, [this] { return waits_.empty() || isStopped(); });
        return !isStopped();
    }

    std::optional<std::size_t> nextPart()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return next_ >= isWhole_.size() || next_ < front_ + window_ || isStopped(); });
        if (next_ >= isWhole_.size() || isStopped())
            return std::nullopt;
        return next_++;
    }

    bool arrived(std::size_t part, std::string_view bytes)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return queuedBytes_ < kMostWaiting || isStopped(); });
        queuedBytes_ += bytes.size();
        queue_.push_back({ part, std::string(bytes) }); // also when stopped: it was fetched
        changed_.notify_all();
        return !isStopped();
    }

    /// @return whether to go on
    bool finish(std::size_t part, const Status& status)
    {
        const std::lock_guard guard(mutex_);
        if (status.ok()) {
            isWhole_[part] = true;
            while (front_ < isWhole_.size() && isWhole_[front_])
                ++front_;
        } else {
            stopAll(status);
        }
        changed_.notify_all();
        return status.ok() && !isStopped();
    }

    /// With the mutex.
    void stopAll(const Status& why)
    {
        if (failed_.ok())
            failed_ = why;
        stop_.request_stop();
        changed_.notify_all();
    }

    void giveOut(std::unique_lock<std::mutex>& lock, const PartSink& sink)
    {
        auto queue = std::exchange(queue_, {});
        queuedBytes_ = 0;
        changed_.notify_all();
        lock.unlock();
        bool goesOn = !isRefused_;
        for (const auto& piece : queue)
            goesOn = goesOn && sink(piece.part, piece.bytes);
        lock.lock();
        isRefused_ = !goesOn;
        if (isRefused_)
            stopAll(stoppedError());
    }

    /// The longest of the waits that were asked for, then what is left of those that were asked for meanwhile.
    void waitForAll(std::unique_lock<std::mutex>& lock)
    {
        const std::size_t covered = waits_.size();
        const auto longest = std::max_element(
            waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) { return a.left() < b.left(); });
        const double seconds = std::max(0.0, longest->left());
        const Message why = longest->why;
        lock.unlock();
        const bool goesOn = pause(retry_, seconds, why);
        lock.lock();
        waits_.erase(waits_.begin(), std::next(waits_.begin(), static_cast<std::ptrdiff_t>(covered)));
        waits_.remove_if([](const Wait& wait) { return wait.left() <= 0; });
        if (!goesOn)
            stopAll(stoppedError());
        changed_.notify_all();
    }

    const RetryPolicy& retry_;
    const MovePart& move_;
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable changed_;
    // guarded by mutex_
    std::deque<Arrived> queue_;
    std::size_t queuedBytes_ = 0;
    std::list<Wait> waits_; ///< not over yet
    std::vector<bool> isWhole_; ///< parts
    std::size_t next_ = 0; ///< the part to begin next
    std::size_t front_ = 0; ///< the first part that is not whole
    const std::size_t window_; ///< so many parts from front_ on may be under way
    std::size_t running_; ///< lanes
    Status failed_;
    bool isRefused_ = false; ///< by the sink
};

} // namespace

Status transferParts(std::span<const std::unique_ptr<HttpTransport>> transports, const RetryPolicy& retry,
    std::size_t count, const MovePart& move, const PartSink& sink)
{
    const std::size_t lanes = std::min(transports.size(), count);
    if (lanes <= 1) {
        const TransferLane lane { *transports.front(), retry };
        for (std::size_t part = 0; part < count; ++part)
            FURROW_TRY(move(part, lane, [&sink, part](std::string_view bytes) { return sink(part, bytes); }));
        return {};
    }
    Transfers transfers(retry, count, lanes, move);
    std::vector<std::jthread> threads;
    for (const auto& transport : transports.first(lanes))
        threads.emplace_back([&transfers, &transport] { transfers.work(*transport); });
    return transfers.serve(sink);
}

} // namespace furrow
