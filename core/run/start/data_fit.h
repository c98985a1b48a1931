#pragma once

#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/data/plan/inspect.h"

#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// What settings ask of a data set that it does not have: no sample passes the filters, less text than one window,
/// chunks that hold fewer windows than a batch, a cache without room for two blocks. Reads the beginning of the data
/// only. Errors are those of reading it.
Result<std::vector<ConfigProblem>> dataProblems(
    const RunConfig& config, const DataInspection& data, const Tokenizer& tokenizer);

} // namespace furrow
