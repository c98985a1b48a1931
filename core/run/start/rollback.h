#pragma once

#include "core/tracker/types.h"

#include <string>
#include <vector>

namespace furrow {

/// What a replica does otherwise since its steps were not finite so often in a row that it went back to its last
/// checkpoint: the same weights, chunk and rate would end the same way. Kept in the tracker, because no checkpoint can
/// hold it.
struct Rollback {
    /// Where the steps that were not finite began. Found bad again at the same place, with a lower rate, it is the text
    /// and not the weights.
    struct Place {
        ChunkId chunk;
        WindowRange windows; ///< of the bad steps
        bool leftOut = false; ///< they are not tried any more
        bool operator==(const Place&) const = default;
    };
    std::int64_t times = 0;
    double rateFactor = 1; ///< of the scheduled rate
    std::vector<Place> places; ///< newest last

    /// Windows of a chunk that are not tried any more, ascending.
    std::vector<WindowRange> leftOutOf(ChunkId chunk) const;
    /// The place of the newest roll-back; there must have been one.
    const Place& newest() const { return places.back(); }
    bool operator==(const Rollback&) const = default;
};

/// What one more roll-back changes. A new place: half the rate. The same place again: its windows are left out. Right
/// behind windows that are left out: the rest of the chunk is.
/// @param bad  windows of the bad steps in this chunk
/// @param windows  of the whole chunk
Rollback afterBadSteps(const Rollback& before, ChunkId chunk, WindowRange bad, std::int32_t windows);

/// For the tracker. What is no such text is no roll-back.
std::string toJsonText(const Rollback& rollback);
Rollback rollbackFrom(const std::string& text);

} // namespace furrow
