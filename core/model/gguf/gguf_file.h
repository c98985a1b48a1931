#pragma once

#include "core/base/closed_set.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// How the numbers of a tensor are stored; the values are those of the format.
enum class GgufType : std::uint32_t { F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q8_0 = 8, Q6_K = 14, Bf16 = 30 };
template <>
inline constexpr std::array kClosedNames<GgufType> {
    ClosedName { GgufType::F32, "f32" },
    ClosedName { GgufType::F16, "f16" },
    ClosedName { GgufType::Bf16, "bf16" },
    ClosedName { GgufType::Q8_0, "q8_0" },
    ClosedName { GgufType::Q4_0, "q4_0" },
    ClosedName { GgufType::Q4_1, "q4_1" },
    ClosedName { GgufType::Q6_K, "q6_k" },
};
struct GgufTypeRow {
    GgufType type;
    std::uint64_t blockNumbers; ///< numbers of a row that are stored together
    std::uint64_t blockBytes;
    std::uint32_t fileType; ///< general.file_type of a file that is mostly of this type
};
const GgufTypeRow& rowOf(GgufType type);

struct GgufTensor {
    std::string name;
    std::vector<std::int64_t> shape; ///< outermost first, as everywhere here; the file has it the other way round
    GgufType type = GgufType::F32;
    std::uint64_t offset = 0; ///< in the file
    std::uint64_t sizeBytes = 0;
};

/// What a GGUF file says before its weights.
struct GgufFile {
    /// Name to value, flat: {"llama.block_count": 30, ...}. A float32 is the shortest decimal number that means it.
    nlohmann::json metadata = nlohmann::json::object();
    std::vector<GgufTensor> tensors; ///< by offset

    const GgufTensor* find(std::string_view name) const; ///< null: there is none
    std::string text(const char* key) const; ///< "": it is missing or no text
    std::string token(const char* key) const; ///< of the vocabulary, the one whose id stands there; "": there is none
};

/// Reads `into` from `offset` of a file.
using GgufBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> into)>;

/// Reads versions 2 and 3, which may come from anywhere: no count, length, offset or alignment is used before it was
/// held against `sizeBytes`. Corrupt says at which byte, or in which tensor, what is wrong.
Result<GgufFile> parseGguf(const GgufBytes& bytes, std::uint64_t sizeBytes);
/// The same of a file; errors name it.
Result<GgufFile> readGguf(const std::filesystem::path& path);
/// Whether a file begins as a GGUF does.
bool isGguf(const std::filesystem::path& path);

/// What stands before the weights: metadata and the table of tensors, padded to where the first one begins. Texts,
/// whole numbers (uint32, lists int32), real numbers (float32), booleans, lists of one kind and empty lists (of texts)
/// are written; InvalidArgument names a value that is none of them. Sets offset and sizeBytes of each tensor.
Result<std::string> ggufHeader(const nlohmann::json& metadata, std::vector<GgufTensor>& tensors);
/// Tensors begin at multiples of this.
inline constexpr std::uint64_t kGgufAlignment = 32;

} // namespace furrow
