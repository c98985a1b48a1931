#pragma once

#include "core/config/worker_task.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace furrow {

/// The result of a task for a person: a few sentences for eval, export and merge, indented JSON for measurements. Ends
/// with a line break.
std::string taskWords(WorkerTask task, const nlohmann::json& result);

/// Whose the newest weights of a run are, where they are those of one replica among several: a sentence with a line
/// break, else "".
/// @param result  of eval, sample or export
std::string oneReplicaWords(const nlohmann::json& result);

/// That nothing was trained in the weights of a run, while it has no checkpoint: a sentence with a line break, else "".
/// @param result  of eval or sample
std::string startWeightsWords(const nlohmann::json& result);

/// Which characters of a prompt the tokenizer has no token for: a sentence with a line break, else "".
/// @param result  of sample
std::string unknownWords(const nlohmann::json& result);

} // namespace furrow
