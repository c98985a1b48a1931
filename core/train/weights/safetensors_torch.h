#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/train/model/parameters_torch.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace furrow {

/// Called with consecutive pieces of the file; a failure ends the writing.
using ByteSink = std::function<Status(const void* data, std::size_t sizeBytes)>;

/// Writes tensors (float32, bfloat16, float16, float64, int64, int32, int8, uint8, bool) in safetensors format, in the
/// given order, streamed in pieces of at most 16 MiB; CUDA tensors are copied to the host piece by piece. The header is
/// padded so that data starts at a multiple of 64 bytes.
/// @param metadata  strings for the "__metadata__" key
Status writeSafetensors(
    const NamedTensors& tensors, const std::map<std::string, std::string>& metadata, const ByteSink& sink);
/// Same, to a new file, synced.
Status writeSafetensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata,
    FileSystem& files, const std::filesystem::path& path);

struct SafetensorsFile {
    NamedTensors tensors; ///< on the CPU, in file order
    std::map<std::string, std::string> metadata;
};

/// Reads a whole file. Refuses what readSafetensorsHeader() refuses, and names the file. Nothing in it is trusted.
Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path);

} // namespace furrow
