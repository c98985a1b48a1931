#pragma once

#include "core/base/clock.h"
#include "core/base/message.h"

#include <cstdint>
#include <filesystem>
#include <utility>

namespace furrow {

/// Writes into the ledger that a run waits for its data, and when that was over, so that it is known afterwards. A wait
/// of less than ten seconds is none: a hub that answers the second time is no news. One thread.
class DataWaitRecord {
public:
    DataWaitRecord(std::filesystem::path tracker, const Clock& clock)
        : tracker_(std::move(tracker))
        , clock_(clock)
    {
    }

    /// Each second. What cannot be written is tried again with the next one.
    /// @param doing  what the feeder says while it waits and nothing is trained; "": it does not
    void see(const Message& doing);

private:
    bool note(const Message& what) const;

    std::filesystem::path tracker_;
    const Clock& clock_;
    std::int64_t sinceWallNs_ = 0; // 0: it does not wait
    bool isTold_ = false;
};

} // namespace furrow
