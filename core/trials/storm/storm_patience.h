#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace furrow {

inline void pause(std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

template <typename Condition> bool waitFor(Condition condition, std::int64_t ms)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        pause(20);
    }
    return true;
}

} // namespace furrow
