#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace furrow {

/// One tensor of a safetensors file, as its header describes it.
struct SafetensorsEntry {
    std::string name;
    std::string type; ///< "F32"; one that safetensorsTypeBytes() knows
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; ///< in the file [bytes]
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries; ///< by place in the file
    std::map<std::string, std::string> metadata;
};

/// Bytes of one element; 0: a type that Furrow does not read.
std::size_t safetensorsTypeBytes(const std::string& type);

/// Reads what stands before the tensors, in bounded time and memory. Refuses (Corrupt, naming the tensor, not the file)
/// headers over 100 MB, overlapping or gapped offsets, sizes that do not fit shape and type, unknown types, duplicate
/// names, and truncated files. Nothing in the file is trusted.
Result<SafetensorsHeader> readSafetensorsHeader(const RandomAccessFile& file);

} // namespace furrow
