#pragma once

#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

/// The one rule for wall times that cannot be: people and time servers move clocks while a run goes on, so what it
/// wrote down may lie before its attempt began, after it ended, or in the future. Such a time is taken to be that of
/// what came before it in the ledger, inside its attempt: the order of the ledger is right, whatever the clock said.
/// Only what is shown goes through this; the ledger keeps what was written. Not thread-safe.
class AttemptTimes {
public:
    /// Takes the spans of the attempts anew. @param nowNs  until then one goes on that has no end
    void know(const std::vector<AttemptRow>& attempts, std::int64_t nowNs);

    enum class Writer { Itself, LaterOne }; ///< the attempt; or one that found out what had become of it
    /// @param wallNs  asked in the order of the ledger; 0 stays as it is, and what is of no known attempt unless it is
    /// to come
    std::int64_t at(AttemptId attempt, std::int64_t wallNs, Writer writer = Writer::Itself);

private:
    struct Span {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    std::map<std::int64_t, Span> spans_; // by attempt
    std::int64_t now_ = 0; // nothing can be later
    std::int64_t last_ = 0; // the newest one asked for that could be
};

} // namespace furrow
