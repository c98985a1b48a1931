#pragma once

#include "core/base/result.h"
#include "core/config/choices.h"
#include "core/run/folder/run_paths.h"

#include <functional>
#include <string>

namespace furrow {

struct MergeTask {
    RunPaths paths;
    std::int64_t attempt = 0;
    MergeMethod method = MergeMethod::Average;
    std::string device; ///< "cpu" or the UUID of a GPU: of a worker, none of which runs meanwhile
};
/// Runs a process that merges all replicas: only furrow-worker links libtorch. One that is killed is started again,
/// three times in all.
/// @param goOn  asked once a second; false ends it with Cancelled
Status runMergeTask(const MergeTask& task, const std::function<bool()>& goOn);

} // namespace furrow
