#include "core/train/cpu/thread_pool.h"

#if defined(__linux__)
#include <pthread.h>
#endif

#include <map>
#include <string>

namespace furrow::cpu {

namespace {

constexpr int kStop = -1;
constexpr int kSpins = 2000; // some microseconds; a step is milliseconds

template <class Done> bool spinUntil(const Done& done)
{
    for (int i = 0; i < kSpins; ++i) {
        if (done())
            return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

} // namespace

ThreadPool::ThreadPool(int threads)
{
    for (int i = 1; i < threads; ++i)
        workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool()
{
    round_.store(kStop, std::memory_order_release);
    round_.notify_all();
}

std::shared_ptr<ThreadPool> sharedPool(int threads)
{
    static std::map<int, std::weak_ptr<ThreadPool>> pools;
    std::weak_ptr<ThreadPool>& known = pools[threads];
    std::shared_ptr<ThreadPool> pool = known.lock();
    if (!pool) {
        pool = std::make_shared<ThreadPool>(threads);
        known = pool;
    }
    return pool;
}

void ThreadPool::run(const std::function<void(int)>& body)
{
    if (workers_.empty()) {
        body(0);
        return;
    }
    body_ = &body;
    running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    round_.store((round_.load(std::memory_order_relaxed) + 1) & 0xFFFF, std::memory_order_release);
    round_.notify_all();
    body(0);
    const auto done = [this] { return running_.load(std::memory_order_acquire) == 0; };
    if (spinUntil(done))
        return;
    for (int left = running_.load(std::memory_order_acquire); left != 0;
        left = running_.load(std::memory_order_acquire))
        running_.wait(left, std::memory_order_acquire);
}

void ThreadPool::work(int thread)
{
#if defined(__linux__)
    pthread_setname_np(pthread_self(), ("furrow-cpu-" + std::to_string(thread)).c_str());
#endif
    int seen = 0;
    while (true) {
        if (!spinUntil([&] { return round_.load(std::memory_order_acquire) != seen; }))
            round_.wait(seen, std::memory_order_acquire);
        const int round = round_.load(std::memory_order_acquire);
        if (round == kStop)
            return;
        if (round == seen)
            continue;
        seen = round;
        (*body_)(thread);
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            running_.notify_all();
    }
}

} // namespace furrow::cpu
