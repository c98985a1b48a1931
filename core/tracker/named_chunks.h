#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

class Database;

/// A chunk that is not trained for a reason, and the reason.
struct NamedChunk {
    ChunkId chunk;
    ChunkState state = ChunkState::Poisoned;
    Message cause; ///< of the move into this state
};

/// The chunks that are excluded, poisoned or accepted now, by id.
std::vector<NamedChunk> namedChunks(Database& db);
/// Only the poisoned ones: what keeps the epochs open until a person decides.
Result<std::vector<NamedChunk>> poisonedChunks(const std::filesystem::path& tracker);
/// A part of the data that no chunk stands for, because a person chose to go on without what changed or is damaged
/// (bad_files=leave_out).
struct LeftOutPart {
    Message what; ///< a sentence
    std::int64_t wallNs = 0; ///< when it was left out
};

/// The first `most`, -1: all. Reads every event.
std::vector<LeftOutPart> leftOutOfTheData(Database& db, std::int64_t most);
Result<std::vector<LeftOutPart>> leftOutOfTheData(const std::filesystem::path& tracker, std::int64_t most);

} // namespace furrow
