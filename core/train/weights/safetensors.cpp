#include "core/train/weights/safetensors_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <set>

// Format: 8 bytes little-endian header length, JSON header, tensor bytes. github.com/huggingface/safetensors

namespace furrow {

namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxTensors = 1'000'000;
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

Error corrupt(const Message& message) { return { ErrorCode::Corrupt, message }; }

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

struct Entry {
    std::string name;
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

Result<Entry> parseEntry(const std::string& name, const nlohmann::json& json)
{
    const Error bad = corrupt(sentence("tensor '%1' has no usable dtype, shape and data_offsets", { name }));
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
        return bad;
    const auto& offsets = json["data_offsets"];
    if (!json["dtype"].is_string() || !json["shape"].is_array() || !offsets.is_array() || offsets.size() != 2
        || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned() || json["shape"].size() > 8)
        return bad;
    Entry entry;
    entry.name = name;
    entry.begin = offsets[0];
    entry.end = offsets[1];
    const std::string typeName = json["dtype"];
    const auto* type
        = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& one) { return typeName == one.name; });
    if (type == kTypes.end())
        return corrupt(sentence("tensor '%1' has type '%2', which is not supported", { name, typeName.substr(0, 20) }));
    entry.type = type->type;
    std::uint64_t bytes = c10::elementSize(entry.type);
    for (const auto& size : json["shape"]) {
        std::uint64_t product = 0;
        if (!size.is_number_unsigned() || __builtin_mul_overflow(bytes, size.get<std::uint64_t>(), &product)
            || product > (std::uint64_t { 1 } << 50))
            return corrupt(sentence("tensor '%1' has an impossible shape", { name }));
        entry.shape.push_back(size);
        bytes = product;
    }
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
        return corrupt(sentence("tensor '%1': shape and type need %2 bytes, but its offsets give another size",
            { name, std::to_string(bytes) }));
    return entry;
}

struct Header {
    std::vector<Entry> entries; ///< by offset
    std::map<std::string, std::string> metadata;
};

/// Finds a name that stands in the outermost object twice: nlohmann takes the last one without a word. A pass of its
/// own, for a callback of the parser looks through all that was read at each end of an object.
class NamesTwice : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_array(std::size_t) override { return ++depth_ > 0; }
    bool end_array() override { return --depth_ >= 0; }
    bool start_object(std::size_t) override { return ++depth_ > 0; }
    bool end_object() override { return --depth_ >= 0; }
    bool key(string_t& name) override
    {
        const bool isNew = depth_ != 1 || seen_.insert(name).second;
        if (!isNew)
            twice = name;
        return isNew;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

    std::string twice; ///< "": none

private:
    std::set<std::string> seen_;
    int depth_ = 0;
};

Result<Header> parseHeader(const std::string& text, std::uint64_t dataBytes)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return corrupt(sentence("the header is no JSON object"));
    NamesTwice names;
    nlohmann::json::sax_parse(text, &names);
    if (!names.twice.empty())
        return corrupt(sentence("tensor '%1' is listed twice", { names.twice }));
    if (json.size() > kMaxTensors)
        return corrupt(sentence("the header lists more than a million tensors"));
    Header header;
    for (const auto& [name, value] : json.items()) {
        if (name == "__metadata__") {
            if (!value.is_object())
                return corrupt(sentence("__metadata__ is no object"));
            for (const auto& [key, one] : value.items()) {
                if (!one.is_string())
                    return corrupt(sentence("__metadata__ '%1' is no string", { key }));
                header.metadata[key] = one;
            }
            continue;
        }
        Result<Entry> entry = parseEntry(name, value);
        if (!entry.ok())
            return entry.error();
        header.entries.push_back(std::move(entry).value());
    }
    std::stable_sort(header.entries.begin(), header.entries.end(),
        [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
    std::uint64_t offset = 0;
    for (const Entry& entry : header.entries) {
        if (entry.begin != offset)
            return corrupt(sentence("tensor '%1' overlaps another one or leaves a gap", { entry.name }));
        offset = entry.end;
    }
    if (offset != dataBytes)
        return corrupt(sentence("the file holds %1 bytes of data, its header describes %2",
            { std::to_string(dataBytes), std::to_string(offset) }));
    return header;
}

Result<std::string> readHeaderText(const RandomAccessFile& file)
{
    std::array<unsigned char, 8> length {};
    if (file.sizeBytes() < length.size())
        return corrupt(sentence("the file is too short for safetensors"));
    FURROW_TRY(file.readAt(0, std::as_writable_bytes(std::span(length))));
    std::uint64_t headerBytes = 0;
    for (std::size_t i = 0; i < length.size(); ++i)
        headerBytes |= static_cast<std::uint64_t>(length[i]) << (8 * i);
    if (headerBytes > kMaxHeaderBytes || headerBytes > file.sizeBytes() - length.size())
        return corrupt(sentence("the header length %1 is impossible for this file", { std::to_string(headerBytes) }));
    std::string text(headerBytes, '\0');
    FURROW_TRY(file.readAt(length.size(), std::as_writable_bytes(std::span(text))));
    return text;
}

Result<SafetensorsFile> readChecked(const std::filesystem::path& path)
{
    const Result<RandomAccessFile> file = RandomAccessFile::open(path);
    if (!file.ok())
        return file.error();
    const Result<std::string> text = readHeaderText(file.value());
    if (!text.ok())
        return text.error();
    const std::uint64_t dataBegin = 8 + text.value().size();
    Result<Header> header = parseHeader(text.value(), file.value().sizeBytes() - dataBegin);
    if (!header.ok())
        return header.error();
    SafetensorsFile result;
    result.metadata = std::move(header.value().metadata);
    for (const Entry& entry : header.value().entries) {
        at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
        const std::span<std::byte> bytes(static_cast<std::byte*>(tensor.mutable_data_ptr()), entry.end - entry.begin);
        if (const Status status = file.value().readAt(dataBegin + entry.begin, bytes); !status.ok())
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
        std::array<unsigned char, 8> length {};
        for (std::size_t i = 0; i < length.size(); ++i)
            length[i] = static_cast<unsigned char>(header.value().size() >> (8 * i));
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
