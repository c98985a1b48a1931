#include "core/base/sentence.h"
#include "core/model/gguf/gguf_file.h"

#include <limits>

namespace furrow {

namespace {

using Json = nlohmann::json;

// Kinds of values of the format.
constexpr std::uint32_t kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kText = 8, kList = 9;

template <typename T> void put(std::string& out, T value)
{
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void putText(std::string& out, const std::string& text)
{
    put(out, static_cast<std::uint64_t>(text.size()));
    out += text;
}

template <typename T> bool fits(const Json& value)
{
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<T>::min()
        && number <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
}

/// 0: this writes no such value.
std::uint32_t kindOf(const Json& value, bool inList)
{
    if (value.is_string())
        return kText;
    if (value.is_boolean())
        return kBool;
    if (value.is_number_float())
        return kF32;
    if (value.is_number_integer() && inList)
        return fits<std::int32_t>(value) ? kI32 : 0;
    return value.is_number_integer() && fits<std::uint32_t>(value) ? kU32 : 0;
}

void putValue(std::string& out, const Json& value, std::uint32_t kind)
{
    switch (kind) {
    case kText: putText(out, value.get<std::string>()); break;
    case kBool: put(out, static_cast<std::uint8_t>(value.get<bool>())); break;
    case kF32: put(out, value.get<float>()); break;
    case kI32: put(out, value.get<std::int32_t>()); break;
    default: put(out, value.get<std::uint32_t>());
    }
}

bool putEntry(std::string& out, const Json& value)
{
    if (!value.is_array()) {
        const auto kind = kindOf(value, false);
        put(out, kind);
        if (kind != 0)
            putValue(out, value, kind);
        return kind != 0;
    }
    const auto kind = value.empty() ? kText : kindOf(value.front(), true);
    put(out, kList);
    put(out, kind);
    put(out, static_cast<std::uint64_t>(value.size()));
    for (const Json& one : value) {
        if (kind == 0 || kindOf(one, true) != kind)
            return false;
        putValue(out, one, kind);
    }
    return true;
}

std::uint64_t aligned(std::uint64_t place) { return (place + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment; }

} // namespace

Result<std::string> ggufHeader(const nlohmann::json& metadata, std::vector<GgufTensor>& tensors)
{
    std::string out = "GGUF";
    put(out, std::uint32_t { 3 });
    put(out, static_cast<std::uint64_t>(tensors.size()));
    put(out, static_cast<std::uint64_t>(metadata.size()));
    for (const auto& [key, value] : metadata.items()) {
        putText(out, key);
        if (!putEntry(out, value))
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has a value that GGUF does not hold here", { key }) };
    }
    std::uint64_t offset = 0;
    for (GgufTensor& tensor : tensors) {
        const GgufTypeRow& row = rowOf(tensor.type);
        putText(out, tensor.name);
        put(out, static_cast<std::uint32_t>(tensor.shape.size()));
        std::uint64_t numbers = 1;
        for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size) {
            put(out, static_cast<std::uint64_t>(*size));
            numbers *= static_cast<std::uint64_t>(*size);
        }
        put(out, static_cast<std::uint32_t>(tensor.type));
        put(out, offset);
        tensor.offset = offset;
        tensor.sizeBytes = numbers / row.blockNumbers * row.blockBytes;
        offset = aligned(offset + tensor.sizeBytes);
    }
    out.resize(aligned(out.size()), '\0');
    for (GgufTensor& tensor : tensors)
        tensor.offset += out.size();
    return out;
}

} // namespace furrow
