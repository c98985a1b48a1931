#pragma once

#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <optional>

namespace furrow {

/// What stood in the way of a run, as its supervisor kept it (TroubleWatch, KeepPolicy).
struct RecordedTrouble {
    enum class Kind { DataAway, NoProgress, DiskNearlyFull, CheckpointsAway, CheckpointsStay };
    Kind kind = Kind::DataAway;
    std::int64_t sinceWallNs = 0;
    std::int32_t worker = kNoWorker; ///< without progress
    Message text; ///< a sentence
};

/// Nothing: the event tells of something else.
std::optional<RecordedTrouble> recordedTrouble(const EventRow& event);
/// What the event says to be over, since when; nothing: it tells of something else.
std::optional<RecordedTrouble> recordedEnd(const EventRow& event);

} // namespace furrow
