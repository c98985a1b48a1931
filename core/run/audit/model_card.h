#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

#include <string>

namespace furrow {

/// The weights that a model card speaks of.
struct CardOf {
    RunFile file;
    RunConfig config; ///< in force
    std::string shape; ///< of the model, in words: describeShape()
    std::string checkpoint; ///< its folder name; of none: nothing was trained yet
};

/// README.md of an exported model, as the hub shows it: what these weights have seen and what the audit of the ledger
/// says to it, the data with its hashes, what was held out, the settings. For strangers: no folder of this machine, no
/// secret and nothing that opens an address stands in it. Reads the tracker and the held-out text, no other file; what
/// cannot be read is named as that. No licence is invented.
Result<std::string> modelCard(const RunPaths& paths, const CardOf& of);

} // namespace furrow
