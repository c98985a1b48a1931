#include "core/train/weights/safetensors_torch.h"

#include "core/base/check.h"
#include "core/base/little_endian.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/model/safetensors_header.h"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <algorithm>
#include <array>

// Format: 8 bytes little-endian header length, JSON header, tensor bytes. github.com/huggingface/safetensors

namespace furrow {

namespace {

constexpr std::size_t kPieceBytes = std::size_t { 16 } << 20;
constexpr std::size_t kDataAlignment = 64;

struct TypeName {
    at::ScalarType type;
    const char* name;
};
constexpr std::array kTypes {
    TypeName { at::kFloat, "F32" },
    TypeName { at::kBFloat16, "BF16" },
    TypeName { at::kHalf, "F16" },
    TypeName { at::kDouble, "F64" },
    TypeName { at::kLong, "I64" },
    TypeName { at::kInt, "I32" },
    TypeName { at::kChar, "I8" },
    TypeName { at::kByte, "U8" },
    TypeName { at::kBool, "BOOL" },
};

Result<std::string> headerOf(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata)
{
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    std::uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const auto* type = std::find_if(
            kTypes.begin(), kTypes.end(), [&](const TypeName& one) { return one.type == tensor.scalar_type(); });
        if (type == kTypes.end())
            return Error { ErrorCode::InvalidArgument,
                sentence("tensor '%1' has a type that safetensors cannot hold", { name }) };
        if (header.contains(name))
            return Error { ErrorCode::InvalidArgument, sentence("tensor '%1' was given twice", { name }) };
        const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.numel()) * tensor.element_size();
        header[name] = { { "dtype", type->name }, { "shape", tensor.sizes().vec() },
            { "data_offsets", { offset, offset + bytes } } };
        offset += bytes;
    }
    std::string text = header.dump();
    text.append((kDataAlignment - (text.size() + 8) % kDataAlignment) % kDataAlignment, ' ');
    return text;
}

Status writeTensor(const at::Tensor& tensor, const ByteSink& sink)
{
    const at::Tensor flat = tensor.detach().contiguous().flatten();
    const auto step = static_cast<std::int64_t>(kPieceBytes / flat.element_size());
    for (std::int64_t at = 0; at < flat.numel(); at += step) {
        const at::Tensor piece
            = flat.narrow(0, at, std::min(step, flat.numel() - at)).cpu(); // sync: the bytes leave the device
        FURROW_TRY(sink(piece.const_data_ptr(), static_cast<std::size_t>(piece.numel()) * piece.element_size()));
    }
    return {};
}

Result<SafetensorsFile> readChecked(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto file, RandomAccessFile::open(path));
    FURROW_TRY_ASSIGN(auto header, readSafetensorsHeader(file));
    SafetensorsFile result;
    result.metadata = std::move(header.metadata);
    for (const SafetensorsEntry& entry : header.entries) {
        const auto* type = std::find_if(
            kTypes.begin(), kTypes.end(), [&entry](const TypeName& one) { return entry.type == one.name; });
        FURROW_CHECK(type != kTypes.end(), "a type of safetensors that the header reader knows and torch does not");
        at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(type->type));
        const std::span<std::byte> bytes(static_cast<std::byte*>(tensor.mutable_data_ptr()), entry.end - entry.begin);
        if (const Status status = file.readAt(entry.begin, bytes); !status.ok())
            return status.error().in(sentence("tensor '%1'", { entry.name }));
        result.tensors.emplace_back(entry.name, std::move(tensor));
    }
    return result;
}

} // namespace

Status writeSafetensors(
    const NamedTensors& tensors, const std::map<std::string, std::string>& metadata, const ByteSink& sink)
{
    try {
        const Result<std::string> header = headerOf(tensors, metadata);
        if (!header.ok())
            return header.error();
        std::string length;
        appendLittleEndian(length, static_cast<std::uint64_t>(header.value().size()));
        FURROW_TRY(sink(length.data(), length.size()));
        FURROW_TRY(sink(header.value().data(), header.value().size()));
        for (const auto& [name, tensor] : tensors) {
            if (const Status status = writeTensor(tensor, sink); !status.ok())
                return status.error().in(sentence("tensor '%1'", { name }));
        }
        return {};
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("writing safetensors: %1", { error.what() }) };
    }
}

Status writeSafetensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata,
    FileSystem& files, const std::filesystem::path& path)
{
    Result<std::unique_ptr<OutputFile>> file = files.create(path);
    if (!file.ok())
        return file.error();
    OutputFile& output = *file.value();
    const Status written = writeSafetensors(
        tensors, metadata, [&](const void* data, std::size_t size) { return output.append(data, size); });
    if (!written.ok())
        return written.error().in(sentence("writing %1", { utf8Text(path) }));
    FURROW_TRY(output.sync());
    return output.close();
}

Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path)
{
    try {
        Result<SafetensorsFile> result = readChecked(path);
        if (!result.ok())
            return result.error().in(sentence("reading %1", { utf8Text(path) }));
        return result;
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("reading %1: %2", { utf8Text(path), error.what() }) };
    }
}

} // namespace furrow
