#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

/// It is for the way that a chunk cannot be read, not for the data (kCameWrong): the next attempt asks again.
bool isOfTransfers(const Message& cause);
/// At the beginning of an attempt: such chunks are tried again without a person's word.
Status retryWrongTransfers(const RunPaths& paths, SupervisorLedger& ledger);

} // namespace furrow
