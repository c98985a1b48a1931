#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

/// manifest.json of a checkpoint folder: what is in it, and its hashes. The tracker's row holds the SHA-256 of this file.
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
    std::vector<Part> parts; ///< what this checkpoint adds to its parents
};

std::string toJsonText(const CheckpointManifest& manifest);
/// Bounded; Corrupt names the folder and what is wrong.
Result<CheckpointManifest> readManifest(const std::filesystem::path& checkpointFolder);

/// Reads every file once: the manifest against `manifestSha256`, each file against the manifest, the run against `runId`.
Status verifyCheckpoint(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256, const std::string& runId);

} // namespace furrow
