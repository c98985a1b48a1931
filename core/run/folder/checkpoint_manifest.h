#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace furrow {

/// manifest.json of a checkpoint folder: what is in it, and its hashes. The tracker's row holds the SHA-256 of this
/// file.
struct CheckpointManifest {
    std::string runId;
    CheckpointKind kind = CheckpointKind::Replica;
    std::int32_t replica = 0;
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    struct File {
        std::string name;
        std::uint64_t sizeBytes = 0;
        std::string sha256;
    };
    std::vector<File> files;
    /// Weights that training leaves alone (what LoRA's pairs stand beside): they are in none of the files, but in
    /// checkpoints/frozen/<sha256>.safetensors, once for the run. Nothing: the files hold all weights.
    struct Frozen {
        std::string sha256;
        std::uint64_t sizeBytes = 0;
    };
    std::optional<Frozen> frozen;
    std::vector<Part> parts; ///< what this checkpoint adds to its parents
    std::vector<std::string> parents; ///< folders of the checkpoints it was made from; empty: the start weights
    /// SHA-256 of their manifests as they were then, in the same order: one that was changed since proves nothing.
    /// Empty: not kept.
    std::vector<std::string> parentManifests;
    std::int64_t writtenWallNs = 0;
    bool namesParents = false; ///< manifests of 0.1 do not say what they were made from
    std::optional<double> evalLoss; ///< of these weights on the held-out text
    std::int64_t incarnation = 0; ///< that wrote it; 0: not said
    bool saysWho = false; ///< manifests before 0.2 have neither of the two
};

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kWeightsFile = "weights.safetensors";
inline constexpr const char* kStateFile = "state.json"; ///< what of a replica is neither weights nor moments
inline constexpr int kStateFormat = 1;

std::string toJsonText(const CheckpointManifest& manifest);
/// Bounded. Corrupt: its content is provably wrong; every other error: it could not be read, which says nothing about
/// it.
Result<CheckpointManifest> readManifest(const std::filesystem::path& checkpointFolder);

/// One that lies elsewhere: `checkpoints/removed/<folder>.json`, kept as proof when the weights went. @param sha256
/// gets its hash
Result<CheckpointManifest> readManifestFile(const std::filesystem::path& file, std::string& sha256);

/// What state.json says of the weights against what the manifest says of them, and against what a run can have:
/// training goes on from it, and its totals are those of the run. Corrupt: they differ, or it cannot be used. One of a
/// newer format is for its readers to refuse.
Status checkState(const std::filesystem::path& checkpointFolder, const CheckpointManifest& manifest);

/// What was found of files in checkpoints/frozen, by hash. Who verifies several checkpoints reads each such file once
/// for all of them.
using FrozenVerdicts = std::map<std::string, Status>;
/// Size and hash of such a file. Corrupt: it is another one; every other error: it cannot be read, or (Cancelled)
/// `stop` was requested.
Status verifyFrozenFile(const std::filesystem::path& file, const CheckpointManifest::Frozen& frozen,
    const std::stop_token& stop = {}, const std::function<void(std::string_view)>& onBytes = {});

/// Reads every file once: the manifest against `manifestSha256`, each file against the manifest, the run against
/// `runId`; and checkState(). Corrupt: a hash differs, or the state is that of other weights, so the checkpoint is
/// damaged. Every other error says nothing about it: a folder, file or disk is missing or cannot be read, or
/// (Cancelled) `stop` was requested, also inside a large file.
/// @param known  verdicts on frozen files; null: looks for itself
/// @param onWeights  gets the pieces of weights.safetensors, in order; may be empty
Status verifyCheckpoint(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, const std::stop_token& stop = {}, FrozenVerdicts* known = nullptr,
    const std::function<void(std::string_view)>& onWeights = {});
/// The same without the frozen weights, for who needs none of them.
Result<CheckpointManifest> verifyOwnFiles(const std::filesystem::path& checkpointFolder,
    const std::string& manifestSha256, const std::string& runId, const std::stop_token& stop = {},
    const std::function<void(std::string_view)>& onWeights = {});
/// The frozen weights that a checkpoint names, and nothing else; success where it names none.
Status verifyFrozen(const std::filesystem::path& checkpointFolder, const CheckpointManifest& manifest,
    const std::stop_token& stop = {}, FrozenVerdicts* known = nullptr);

} // namespace furrow
