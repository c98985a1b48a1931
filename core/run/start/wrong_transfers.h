#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <filesystem>
#include <vector>

namespace furrow {

/// It is for the way that a chunk cannot be read, not for the data (kCameWrong): the next attempt asks again.
bool isOfTransfers(const Message& cause);
/// The poisoned chunks for which that is so, ascending: each attempt begins with another try of them, without a
/// person's word.
Result<std::vector<ChunkId>> wrongTransfers(const std::filesystem::path& tracker);
/// That try.
Status retryWrongTransfers(const RunPaths& paths, SupervisorLedger& ledger);

} // namespace furrow
