#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace furrow {

/// The restarts that an attempt has. Whoever was ended because somebody had stopped it has not failed: its restart is
/// free as long as the run comes further from one to the next. One thread.
class RestartBudget {
public:
    explicit RestartBudget(std::int64_t limit)
        : left_(limit)
    {
    }

    /// @param worker  -1: the feeder
    /// @param pausedAt  it stood still and was ended for that, when so many tokens were trained; nothing: it failed
    /// @return false: none is left
    bool take(int worker, std::optional<std::int64_t> pausedAt)
    {
        if (pausedAt && *pausedAt > freeAt_[worker]) {
            freeAt_[worker] = *pausedAt;
            return true;
        }
        if (left_ <= 0)
            return false;
        --left_;
        return true;
    }

private:
    std::int64_t left_;
    std::map<int, std::int64_t> freeAt_; ///< tokens trained at the newest free restart, by worker
};

} // namespace furrow
