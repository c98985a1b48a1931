#pragma once

#include "core/base/message.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// A trainer that is not there: it ended and is to start again, or its process was started and has not registered yet.
struct AwaitedStart {
    int worker = 0;
    std::int64_t wallNs = 0; ///< when it starts, or was started
    bool isStarted = false;
};

/// Who is to begin, and when, for the status; "": nobody. @param together  they start as one (setting `parallel` is
/// data)
Message startsInWords(const std::vector<AwaitedStart>& starts, bool together);

} // namespace furrow
