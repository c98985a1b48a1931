#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"

#include <string>
#include <vector>

namespace furrow {

/// What is wrong with the plans of a run's blocks and with those prepared blocks that lie in the cache, a sentence
/// each. Reads every prepared block; changes nothing. One that is not there is no fault: it is made again.
Result<std::vector<Message>> blockProblems(const RunPaths& paths);

struct BlockRepair {
    std::vector<Message> notes; ///< a sentence for each block that was put aside
    std::vector<Message> problems; ///< what is still wrong, as blockProblems() says
};
/// Prepared blocks of a run whose bytes are damaged get a name in the cache that nobody opens, and are made again from
/// the source when they are needed. Reads every prepared block once.
Result<BlockRepair> repairBlocks(const RunPaths& paths);

} // namespace furrow
