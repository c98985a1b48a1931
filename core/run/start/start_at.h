#pragma once

#include "core/base/message.h"
#include "core/config/chunk_name.h"
#include "core/config/schema.h"
#include "core/data/plan/inspect.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// Why a run cannot begin with this chunk (`start_at`): the data has no such block, or the block no such chunk; "" when
/// it can.
/// @param blocks  of the data, when it has no more than these; @param chunks  of the block that the chunk names, when
/// it is known
Message startProblem(const ChunkName& start, std::optional<std::int64_t> blocks, std::optional<std::int64_t> chunks);

/// The same before there is a run: the data is cut up to there where that is quick (`rowsExact`, and no file must be
/// fetched for it). Elsewhere nothing is said, and the feeder finds it out. Errors are those of reading the data.
Result<std::vector<ConfigProblem>> startProblems(const RunConfig& config, const DataInspection& data,
    const std::shared_ptr<const Tokenizer>& tokenizer, const std::filesystem::path& cacheFolder);

} // namespace furrow
