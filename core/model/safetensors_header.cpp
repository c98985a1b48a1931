// Format: 8 bytes little-endian header length, JSON header, tensor bytes. github.com/huggingface/safetensors

#include "core/model/safetensors_header.h"

#include "core/base/little_endian.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <tuple>

namespace furrow {

namespace {

constexpr std::size_t kLengthBytes = 8; ///< of the length of the header
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxTensors = 1'000'000;
constexpr std::size_t kMaxDimensions = 8;
constexpr std::uint64_t kMaxTensorBytes = std::uint64_t { 1 } << 50;

struct TypeSize {
    const char* name;
    std::size_t bytes;
};
constexpr std::array kTypes {
    TypeSize { "F32", 4 },
    TypeSize { "BF16", 2 },
    TypeSize { "F16", 2 },
    TypeSize { "F64", 8 },
    TypeSize { "I64", 8 },
    TypeSize { "I32", 4 },
    TypeSize { "I8", 1 },
    TypeSize { "U8", 1 },
    TypeSize { "BOOL", 1 },
};

Error corrupt(const Message& message) { return { ErrorCode::Corrupt, message }; }

/// Offsets are still those behind the header.
Result<SafetensorsEntry> parseEntry(const std::string& name, const nlohmann::json& json)
{
    const Error bad = corrupt(sentence("tensor '%1' has no usable dtype, shape and data_offsets", { name }));
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
        return bad;
    const auto& offsets = json["data_offsets"];
    if (!json["dtype"].is_string() || !json["shape"].is_array() || !offsets.is_array() || offsets.size() != 2
        || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()
        || json["shape"].size() > kMaxDimensions)
        return bad;
    SafetensorsEntry entry;
    entry.name = name;
    entry.type = json["dtype"];
    entry.begin = offsets[0];
    entry.end = offsets[1];
    std::uint64_t bytes = safetensorsTypeBytes(entry.type);
    if (bytes == 0)
        return corrupt(
            sentence("tensor '%1' has type '%2', which is not supported", { name, entry.type.substr(0, 20) }));
    for (const auto& size : json["shape"]) {
        std::uint64_t product = 0;
        if (!size.is_number_unsigned() || __builtin_mul_overflow(bytes, size.get<std::uint64_t>(), &product)
            || product > kMaxTensorBytes)
            return corrupt(sentence("tensor '%1' has an impossible shape", { name }));
        entry.shape.push_back(size);
        bytes = product;
    }
    if (entry.end < entry.begin || entry.end - entry.begin != bytes)
        return corrupt(sentence("tensor '%1': shape and type need %2 bytes, but its offsets give another size",
            { name, std::to_string(bytes) }));
    return entry;
}

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

Status takeMetadata(const nlohmann::json& json, SafetensorsHeader& header)
{
    if (!json.is_object())
        return corrupt(sentence("__metadata__ is not an object"));
    for (const auto& [key, one] : json.items()) {
        if (!one.is_string())
            return corrupt(sentence("__metadata__ '%1' is not a string", { key }));
        header.metadata[key] = one;
    }
    return {};
}

/// Puts the tensors in order of place and counts it from the beginning of the file.
Status place(std::vector<SafetensorsEntry>& entries, std::uint64_t dataBegin, std::uint64_t dataBytes)
{
    std::stable_sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    std::uint64_t offset = 0;
    for (SafetensorsEntry& entry : entries) {
        if (entry.begin != offset)
            return corrupt(sentence("tensor '%1' overlaps another one or leaves a gap", { entry.name }));
        offset = entry.end;
        entry.begin += dataBegin;
        entry.end += dataBegin;
    }
    if (offset != dataBytes)
        return corrupt(sentence("the file holds %1 bytes of data, its header describes %2",
            { std::to_string(dataBytes), std::to_string(offset) }));
    return {};
}

Result<std::string> readHeaderText(const RandomAccessFile& file)
{
    std::string length(kLengthBytes, '\0');
    if (file.sizeBytes() < length.size())
        return corrupt(sentence("the file is too short for safetensors"));
    FURROW_TRY(file.readAt(0, std::as_writable_bytes(std::span(length))));
    const auto headerBytes = littleEndianAt<std::uint64_t>(length, 0);
    if (headerBytes > kMaxHeaderBytes || headerBytes > file.sizeBytes() - length.size())
        return corrupt(sentence("the header length %1 is impossible for this file", { std::to_string(headerBytes) }));
    std::string text(headerBytes, '\0');
    FURROW_TRY(file.readAt(length.size(), std::as_writable_bytes(std::span(text))));
    return text;
}

} // namespace

std::size_t safetensorsTypeBytes(const std::string& type)
{
    const auto* found
        = std::find_if(kTypes.begin(), kTypes.end(), [&type](const TypeSize& one) { return type == one.name; });
    return found == kTypes.end() ? 0 : found->bytes;
}

Result<SafetensorsHeader> readSafetensorsHeader(const RandomAccessFile& file)
{
    FURROW_TRY_ASSIGN(const auto text, readHeaderText(file));
    const auto json = parseBoundedJson(text);
    if (json.is_discarded() || !json.is_object())
        return corrupt(sentence("the header is not a JSON object"));
    NamesTwice names;
    nlohmann::json::sax_parse(text, &names);
    if (!names.twice.empty())
        return corrupt(sentence("tensor '%1' is listed twice", { names.twice }));
    if (json.size() > kMaxTensors)
        return corrupt(sentence("the header lists more than a million tensors"));
    SafetensorsHeader header;
    for (const auto& [name, value] : json.items()) {
        if (name == "__metadata__") {
            FURROW_TRY(takeMetadata(value, header));
            continue;
        }
        FURROW_TRY_ASSIGN(auto entry, parseEntry(name, value));
        header.entries.push_back(std::move(entry));
    }
    const std::uint64_t dataBegin = kLengthBytes + text.size();
    FURROW_TRY(place(header.entries, dataBegin, file.sizeBytes() - dataBegin));
    return header;
}

} // namespace furrow
