#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/types.h"
#include "core/tracker/window_ranges.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

// The windows that a manifest lists against those that the ledger has of the same checkpoint. Internal to the audit and
// the repair.

using WindowsByChunk = std::map<ChunkId, WindowRanges>;

struct Covered {
    WindowsByChunk trained;
    WindowsByChunk leftOut; ///< by name (NaN, overflow)
    std::optional<ChunkId> twice; ///< windows listed twice, or none
};
Covered coveredBy(const std::vector<Part>& parts);

/// The first chunk of which manifest and ledger say something else. What a claim left out after its manifest was
/// written is in the ledger alone.
std::optional<ChunkId> firstDifference(const Covered& manifest, const Covered& ledger);

/// "chunk 3 of block 1: checkpoint r0-12 trained windows 0-48 by its manifest and - by the tracker".
Message differenceInWords(ChunkId chunk, const std::string& folder, const Covered& byManifest, const Covered& byLedger);

/// "" when the rows of a ledger and the windows that it has are those of the manifests, in every surviving checkpoint
/// whose manifest is the one that it recorded; else the first difference, in words. What is wrong with a manifest is
/// for others to say (otherManifest).
Result<Message> differenceFromManifests(const RunPaths& paths, const std::string& runId, LedgerReader& ledger);

} // namespace furrow
