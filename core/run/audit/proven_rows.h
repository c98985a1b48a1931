#pragma once

#include "core/base/message.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

// The rows that a ledger has of checkpoints against their manifests. Internal to the audit and the repair.

using FoldersById = std::map<std::int64_t, std::string>; ///< of checkpoints
FoldersById foldersOf(const std::vector<SupervisorLedger::CheckpointRow>& rows);

/// The manifest of a checkpoint that is there, or whose weights the keep policy removed.
struct KeptManifest {
    Result<CheckpointManifest> content;
    std::string sha256; ///< "": the file cannot be read
    std::filesystem::path file;
};
KeptManifest readKeptManifest(const RunPaths& paths, const std::string& folder);

/// "" when a row and a manifest, which is the one that it recorded, say the same; else the first thing in which they
/// differ, in words.
/// @param file  of the manifest: its size is part of the checkpoint's
Message rowDifference(const SupervisorLedger::CheckpointRow& row, const CheckpointManifest& manifest,
    const std::filesystem::path& file, const std::string& runId, const FoldersById& folders);

/// A checkpoint whose manifest is another than the one that was recorded.
struct OtherManifest {
    CheckpointId checkpoint;
    Message problem;
};

Message otherManifestInWords(const std::string& folder);

struct ManifestFaults {
    /// The first of the surviving checkpoints, but for the newest weights, which are looked at elsewhere, whose
    /// manifest is another file than its row recorded. One that is not there, or cannot be read now, says nothing.
    std::optional<OtherManifest> other;
    /// Checkpoints behind the newest weights whose manifest, as it was recorded, is not the one that a child of theirs
    /// names as what it was made from (CheckpointManifest::parentManifests), one for each such child: whoever changes a
    /// checkpoint together with its row leaves the child as it was. A child counts that the run has left, too. A
    /// manifest that is not the one that its row recorded says nothing here.
    std::vector<OtherManifest> otherThanChildrenSay;
};
/// Reads each manifest once.
ManifestFaults manifestFaults(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows);

/// What the last published tracker (view.sqlite) says of the manifests that the rows record. Of the newest checkpoint
/// no younger manifest keeps the hash: this is its second witness.
struct PublishedWitness {
    /// The first row that recorded another manifest then. No snapshot, or one of another run, says nothing; nor does it
    /// of checkpoints that it has not.
    std::optional<OtherManifest> other;
    Message silence; ///< of how many newest checkpoints it says nothing, and why; "": it speaks of all
};
/// Reads the snapshot once.
PublishedWitness askPublished(
    const RunPaths& paths, const std::string& runId, const std::vector<SupervisorLedger::CheckpointRow>& rows);

} // namespace furrow
