#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow {

/// SHA-256 of the weights that a run starts from (setting init_from): of the one file of a checkpoint or a GGUF, of a
/// folder of other programs that of names and hashes of its weight files. Reads all of them; "" for "". NotFound: there
/// are none. Corrupt: they are not those of which the manifest of the checkpoint speaks.
Result<std::string> startWeightsHash(const std::string& initFrom);

/// Refuses weights that are not those of then, or not those of their checkpoint.
/// @param hash  as run.json has it; "": made by a version that did not keep it, or there is no run
Status checkStartWeights(const std::string& initFrom, const std::string& hash);

} // namespace furrow
