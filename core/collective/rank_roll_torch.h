#pragma once

#include "core/base/process.h"
#include "core/base/result.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// How far a rank has come in the calls that all ranks make in one order. Of two ranks that have lost one another, the
/// one that is further has left a call out.
struct RankPlace {
    std::int64_t exchange = 0; ///< rises from one to the next; stays when one is left out
    std::int64_t sums = 0; ///< begun so far
    bool operator==(const RankPlace&) const = default;
};

/// Who is in a group and who left it, as words in the store through which the ranks met. Read when the group forms and
/// when something is wrong, never in between. Functions may throw what the store throws. Not thread-safe.
class RankRoll {
public:
    RankRoll(c10::intrusive_ptr<c10d::Store> store, int rank, int ranks)
        : store_(std::move(store))
        , rank_(rank)
        , ranks_(ranks)
    {
    }

    /// Says that this rank is here and waits for the others; the error names those that did not come. Cancelled when
    /// `stopRequested` says so: one that was asked to stop before it could listen never comes. Also when one has left
    /// or died since it came.
    Status call(std::chrono::milliseconds timeout, const std::function<bool()>& stopRequested);
    /// Says why this rank ends, unless it said something before.
    void leave(const std::string& why);
    /// A call failed for this rank: says so, hears what the others say, and makes out which rank is to blame.
    /// @param patience  how long to wait for the others' words
    Error blame(const RankPlace& place, const std::string& said, std::chrono::milliseconds patience);
    /// All ranks told where they are, and they are not at one place: the error names those that left a call out.
    Error blame(const std::vector<RankPlace>& places);

private:
    struct Word;
    std::vector<int> silent(const char* what) const;
    std::vector<int> hear(std::chrono::milliseconds patience) const;
    Message name(int rank) const;
    Message whoSkipped(const std::vector<std::optional<RankPlace>>& places) const;
    Error error(const Message& what) const;
    void say(const std::string& word);
    Word wordOf(int rank) const;

    c10::intrusive_ptr<c10d::Store> store_;
    int rank_;
    int ranks_;
    std::vector<ProcessIdentity> processes_; ///< by rank, once called
    bool said_ = false;
};

} // namespace furrow
