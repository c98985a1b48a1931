#pragma once

#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/data/plan/inspect.h"
#include "core/run/folder/epoch_length.h"

#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// The beginning of a data set as a run would train it.
struct DataLook {
    std::int64_t rows = 0; ///< that were read, whatever became of them
    std::int64_t samples = 0; ///< of those, to be trained
    EpochLength epoch; ///< of what was read
    bool isAll = false; ///< it was read to its end
    bool isAtMost = false; ///< an epoch may train less: repeats that were not met, chunks that are left out by name
};

struct DataFit {
    std::vector<ConfigProblem> problems;
    DataLook look;
};

/// What settings ask of a data set that it does not have: no sample passes the filters, less text than one window,
/// chunks that hold fewer windows than a batch, a cache without room for two blocks. Reads the beginning of the data
/// only. Errors are those of reading it.
Result<DataFit> fitOf(const RunConfig& config, const DataInspection& data, const Tokenizer& tokenizer);

} // namespace furrow
