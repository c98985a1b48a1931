#pragma once

#include "core/tracker/window_ranges.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace furrow {

/// Mean loss of a chunk that may be trained in parts: each window counts with the newest claim that trained it.
class ChunkLoss {
public:
    /// A claim on the chunk, newer than those before.
    /// @param done     windows that it trained, normalized; of one that shares them with a newer claim only the others
    ///                 count, in proportion
    /// @param tokens   labels in them
    /// @param lossSum  nats over those; 0: it tells none (what stands for a lost history)
    void add(const WindowRanges& done, std::int64_t tokens, double lossSum);
    /// Nats per token over all of it; nothing: no claim tells any.
    std::optional<double> mean() const;

private:
    struct Training {
        WindowRanges done;
        std::int64_t tokens = 0;
        double lossSum = 0;
    };
    std::vector<Training> trainings_; // oldest first
};

} // namespace furrow
