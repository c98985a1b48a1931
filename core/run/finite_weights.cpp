// Looks at the numbers of a safetensors file without torch: 8 bytes little-endian header length, JSON header, tensor
// bytes. NaN and Inf are the numbers whose exponent is all ones. A file that is none is left to its reader, who knows
// more about it.

#include "core/run/finite_weights.h"

#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/run/checkpoint_manifest.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kPieceBytes = std::size_t { 1 } << 20; // whole numbers of every type

template <typename Bits> bool allFinite(const std::vector<char>& piece, std::size_t size, Bits exponent)
{
    bool finite = true;
    for (std::size_t at = 0; at + sizeof(Bits) <= size; at += sizeof(Bits)) {
        Bits bits = 0;
        std::memcpy(&bits, piece.data() + at, sizeof(Bits));
        finite = finite && (bits & exponent) != exponent;
    }
    return finite;
}

/// Of a piece with numbers of this type of safetensors; true for types that hold no NaN.
bool isFinite(const std::string& type, const std::vector<char>& piece, std::size_t size)
{
    if (type == "F32")
        return allFinite<std::uint32_t>(piece, size, 0x7f80'0000U);
    if (type == "BF16")
        return allFinite<std::uint16_t>(piece, size, 0x7f80);
    if (type == "F16")
        return allFinite<std::uint16_t>(piece, size, 0x7c00);
    if (type == "F64")
        return allFinite<std::uint64_t>(piece, size, 0x7ff0'0000'0000'0000U);
    return true;
}

struct Tensor {
    std::string name;
    std::string type;
    std::uint64_t begin = 0; ///< in the file
    std::uint64_t end = 0;
};

/// By place in the file; nothing when there is no header that can be used.
std::optional<std::vector<Tensor>> readHeader(std::istream& file)
{
    std::uint64_t size = 0;
    if (!file.read(reinterpret_cast<char*>(&size), sizeof(size)) || size > kMaxHeaderBytes)
        return std::nullopt;
    std::string text(size, '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(size)))
        return std::nullopt;
    const auto header = parseBoundedJson(text);
    if (!header.is_object())
        return std::nullopt;
    std::vector<Tensor> tensors;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        const auto type = entry.is_object() ? entry.find("dtype") : entry.end();
        const auto offsets = entry.is_object() ? entry.find("data_offsets") : entry.end();
        if (type == entry.end() || offsets == entry.end() || !type->is_string() || !offsets->is_array()
            || offsets->size() != 2 || !offsets->front().is_number_unsigned() || !offsets->back().is_number_unsigned())
            return std::nullopt;
        const std::uint64_t data = sizeof(size) + text.size();
        tensors.push_back({ name, type->get<std::string>(), data + offsets->front().get<std::uint64_t>(),
            data + offsets->back().get<std::uint64_t>() });
    }
    std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.begin < b.begin; });
    return tensors;
}

bool isFinite(std::istream& file, const Tensor& tensor, std::vector<char>& piece)
{
    file.seekg(static_cast<std::streamoff>(tensor.begin));
    for (std::uint64_t at = tensor.begin; at < tensor.end;) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), tensor.end - at));
        if (!file.read(piece.data(), static_cast<std::streamsize>(size)))
            return true; // shorter than its header says: its reader names that
        if (!isFinite(tensor.type, piece, size))
            return false;
        at += size;
    }
    return true;
}

} // namespace

Status verifyTrainable(const std::filesystem::path& folder, const std::string& manifestSha256, const std::string& runId,
    FrozenVerdicts* known)
{
    FURROW_TRY(verifyCheckpoint(folder, manifestSha256, runId, {}, known));
    RegularFileStream file(folder / kWeightsFile);
    const auto tensors = readHeader(file);
    if (!tensors)
        return {};
    std::vector<char> piece(kPieceBytes);
    for (const auto& tensor : *tensors)
        if (!isFinite(file, tensor, piece))
            return Error { ErrorCode::Corrupt,
                sentence(
                    "checkpoint %1 cannot be used: tensor '%2' of its weights holds NaN or Inf, though the hashes of its files fit.",
                    { utf8Text(folder.filename()), tensor.name }) };
    return {};
}

} // namespace furrow
