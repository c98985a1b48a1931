#pragma once

#include <utility>

namespace furrow {

/// A member has a value for the lifetime of this, also when an error is thrown, and is empty again then.
template <typename T> class ForThisPass {
public:
    ForThisPass(T& member, T value)
        : member_(member)
    {
        member_ = std::move(value);
    }
    ~ForThisPass() { member_ = T {}; }
    ForThisPass(const ForThisPass&) = delete;
    ForThisPass& operator=(const ForThisPass&) = delete;

private:
    T& member_;
};

} // namespace furrow
