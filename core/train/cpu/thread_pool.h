#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace furrow::cpu {

/// A few threads that run one function together: the caller is number 0, the others wait in between. One barrier per
/// run, because a neighbour on the machine makes every barrier dear. Threads are named "furrow-cpu-N", touch only what
/// the function gives them, and end with the pool. Not thread-safe.
class ThreadPool {
public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(workers_.size()) + 1; }
    /// Calls body(thread) once on every thread and returns when all are done. body must not throw.
    void run(const std::function<void(int)>& body);

private:
    void work(int thread);

    std::vector<std::jthread> workers_; // set in the constructor, then constant
    const std::function<void(int)>* body_ = nullptr; // published by round_
    std::atomic<int> round_ { 0 }; // counts runs; -1 ends the workers
    std::atomic<int> running_ { 0 };
};

/// The pool of this process with that many threads; model and optimizer share it, so that no more threads than asked
/// for ever run. It ends with its last user. Called from the training thread only.
std::shared_ptr<ThreadPool> sharedPool(int threads);

} // namespace furrow::cpu
