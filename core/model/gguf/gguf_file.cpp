// Little-endian: magic, version, number of tensors, number of metadata, the metadata, the table of tensors, padding,
// the numbers. Source: the GGUF specification (ggml, docs/gguf.md).

#include "core/model/gguf/gguf_file.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

namespace furrow {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kMaxHeaderBytes = 256u << 20; // a vocabulary of 256,000 tokens has 15 MB
constexpr std::uint64_t kMostValues = 1u << 23; // of all lists together
constexpr std::uint64_t kMostEntries = 1u << 16; // of metadata, of tensors
constexpr std::uint64_t kMostNameBytes = 1u << 16;
constexpr std::uint64_t kMostAlignment = 1u << 20;
constexpr std::uint64_t kLeastTensorBytes
    = 8 + 4 + 8 + 4 + 8; // of an entry: name, dimensions, one of them, type, offset
constexpr std::uint64_t kLeastValueBytes = 8 + 4 + 1;
constexpr std::uint64_t kMostNumbers = std::uint64_t { 1 } << 40; // of one tensor
constexpr std::uint32_t kMostDimensions = 4;

constexpr std::array kTypes { GgufTypeRow { GgufType::F32, 1, 4, 0 }, GgufTypeRow { GgufType::F16, 1, 2, 1 },
    GgufTypeRow { GgufType::Bf16, 1, 2, 32 }, GgufTypeRow { GgufType::Q8_0, 32, 34, 7 },
    GgufTypeRow { GgufType::Q4_0, 32, 18, 2 }, GgufTypeRow { GgufType::Q4_1, 32, 20, 3 },
    GgufTypeRow { GgufType::Q6_K, 256, 210, 18 } };

enum class Kind : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, List, U64, I64, F64, Count };
constexpr std::array<std::uint64_t, static_cast<std::size_t>(Kind::Count)> kLeastBytes { 1, 1, 2, 2, 4, 4, 4, 1, 8, 12,
    8, 8, 8 };

constexpr std::uint64_t aligned(std::uint64_t place, std::uint64_t alignment)
{
    return (place + alignment - 1) / alignment * alignment;
}

/// A number of a file as a person wrote it: 1e-5, not 9.99999974737875e-06.
double shortest(float value)
{
    std::array<char, 32> text {};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    double read = 0;
    return std::from_chars(text.data(), end, read).ec == std::errc() ? read : static_cast<double>(value);
}

/// Takes one value after the other from the head of a file, which is read in pieces.
class Cursor {
public:
    Cursor(const GgufBytes& bytes, std::uint64_t sizeBytes)
        : bytes_(bytes)
        , size_(sizeBytes)
        , end_(std::min(sizeBytes, kMaxHeaderBytes))
    {
    }

    std::uint64_t place() const { return place_; }
    std::uint64_t left() const { return end_ - place_; }
    Error wrong(const Message& what) const
    {
        return { ErrorCode::Corrupt, sentence("at byte %1: %2", { std::to_string(place_), what }) };
    }

    template <typename T> Result<T> number()
    {
        T value {};
        FURROW_TRY(take(std::as_writable_bytes(std::span(&value, 1))));
        return value;
    }

    Result<std::string> text(std::uint64_t mostBytes)
    {
        FURROW_TRY_ASSIGN(const auto length, number<std::uint64_t>());
        if (length > left() || length > mostBytes)
            return wrong(sentence("a text of %1 bytes does not fit", { std::to_string(length) }));
        std::string value(length, '\0');
        FURROW_TRY(take(std::as_writable_bytes(std::span(value))));
        if (!isValidUtf8(value))
            return wrong(sentence("a text before it is not UTF-8"));
        return value;
    }

    Result<Json> value(Kind kind)
    {
        switch (kind) {
        case Kind::U8: return scalar<std::uint8_t>();
        case Kind::I8: return scalar<std::int8_t>();
        case Kind::U16: return scalar<std::uint16_t>();
        case Kind::I16: return scalar<std::int16_t>();
        case Kind::U32: return scalar<std::uint32_t>();
        case Kind::I32: return scalar<std::int32_t>();
        case Kind::U64: return scalar<std::uint64_t>();
        case Kind::I64: return scalar<std::int64_t>();
        case Kind::F64: return scalar<double>();
        case Kind::F32: {
            FURROW_TRY_ASSIGN(const auto read, number<float>());
            return Json(shortest(read));
        }
        case Kind::Bool: {
            FURROW_TRY_ASSIGN(const auto byte, number<std::uint8_t>());
            return byte <= 1 ? Result<Json>(Json(byte == 1)) : wrong(sentence("a boolean is neither 0 nor 1"));
        }
        case Kind::Text: {
            FURROW_TRY_ASSIGN(auto read, text(kMaxHeaderBytes));
            return Json(std::move(read));
        }
        case Kind::List: return list();
        case Kind::Count: break;
        }
        return wrong(sentence("a value is of an unknown kind"));
    }

    Result<Kind> kind()
    {
        FURROW_TRY_ASSIGN(const auto read, number<std::uint32_t>());
        if (read >= static_cast<std::uint32_t>(Kind::Count))
            return wrong(sentence("a value is of the unknown kind %1", { std::to_string(read) }));
        return static_cast<Kind>(read);
    }

private:
    template <typename T> Result<Json> scalar()
    {
        FURROW_TRY_ASSIGN(const auto read, number<T>());
        return Json(read);
    }

    Result<Json> list()
    {
        FURROW_TRY_ASSIGN(const auto of, kind());
        FURROW_TRY_ASSIGN(const auto count, number<std::uint64_t>());
        if (of == Kind::List)
            return wrong(sentence("a list holds lists, which nothing here needs"));
        values_ += std::min(count, kMostValues + 1);
        if (values_ > kMostValues || count > left() / kLeastBytes[static_cast<std::size_t>(of)])
            return wrong(sentence("a list of %1 values does not fit", { std::to_string(count) }));
        Json all = Json::array();
        for (std::uint64_t i = 0; i < count; ++i) {
            FURROW_TRY_ASSIGN(auto one, value(of));
            all.push_back(std::move(one));
        }
        return all;
    }

    Status take(std::span<std::byte> into)
    {
        if (into.size() > left())
            return wrong(size_ > kMaxHeaderBytes ? sentence("the header is longer than 256 MiB")
                                                 : sentence("the file ends in the middle of its header"));
        while (!into.empty()) {
            if (place_ < begin_ || place_ >= begin_ + piece_.size()) {
                constexpr std::uint64_t kPiece = 1u << 20;
                piece_.resize(std::min(kPiece, end_ - place_));
                begin_ = place_;
                FURROW_TRY(bytes_(begin_, piece_));
            }
            const std::uint64_t from = place_ - begin_;
            const auto size = std::min<std::uint64_t>(into.size(), piece_.size() - from);
            std::memcpy(into.data(), piece_.data() + from, size);
            into = into.subspan(size);
            place_ += size;
        }
        return {};
    }

    const GgufBytes& bytes_;
    std::uint64_t size_;
    std::uint64_t end_;
    std::uint64_t place_ = 0;
    std::uint64_t begin_ = 0; // of the piece that was read last
    std::vector<std::byte> piece_;
    std::uint64_t values_ = 0;
};

struct Counts {
    std::uint64_t tensors = 0;
    std::uint64_t metadata = 0;
};

Result<Counts> readCounts(Cursor& cursor)
{
    FURROW_TRY_ASSIGN(const auto magic, cursor.number<std::uint32_t>());
    FURROW_TRY_ASSIGN(const auto version, cursor.number<std::uint32_t>());
    if (std::memcmp(&magic, kMagic.data(), kMagic.size()) != 0)
        return Error { ErrorCode::Corrupt, sentence("it does not begin as a GGUF does") };
    if (version > 0 && (version & 0xFFFF) == 0)
        return Error { ErrorCode::Corrupt, sentence("its numbers are big-endian, which is not known here") };
    if (version != 2 && version != 3)
        return Error { ErrorCode::Corrupt,
            sentence("it is of version %1 of GGUF; known are 2 and 3", { std::to_string(version) }) };
    Counts counts;
    FURROW_TRY_ASSIGN(counts.tensors, cursor.number<std::uint64_t>());
    FURROW_TRY_ASSIGN(counts.metadata, cursor.number<std::uint64_t>());
    const std::uint64_t least = cursor.left();
    if (counts.tensors > std::min(kMostEntries, least / kLeastTensorBytes))
        return cursor.wrong(sentence("%1 tensors do not fit", { std::to_string(counts.tensors) }));
    if (counts.metadata > std::min(kMostEntries, least / kLeastValueBytes))
        return cursor.wrong(sentence("%1 metadata do not fit", { std::to_string(counts.metadata) }));
    return counts;
}

Result<GgufTensor> readTensor(Cursor& cursor)
{
    GgufTensor tensor;
    FURROW_TRY_ASSIGN(tensor.name, cursor.text(kMostNameBytes));
    const auto wrong = [&](const Message& what) {
        return Error { ErrorCode::Corrupt, sentence("tensor '%1' %2", { plainLine(tensor.name, 100), what }) };
    };
    FURROW_TRY_ASSIGN(const auto dimensions, cursor.number<std::uint32_t>());
    if (dimensions < 1 || dimensions > kMostDimensions)
        return wrong(sentence("has %1 dimensions", { std::to_string(dimensions) }));
    std::uint64_t numbers = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
        FURROW_TRY_ASSIGN(const auto size, cursor.number<std::uint64_t>());
        if (size < 1 || size > kMostNumbers / numbers)
            return wrong(sentence("has an impossible shape"));
        numbers *= size;
        tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size));
    }
    FURROW_TRY_ASSIGN(const auto type, cursor.number<std::uint32_t>());
    const auto row = std::find_if(kTypes.begin(), kTypes.end(),
        [type](const GgufTypeRow& one) { return static_cast<std::uint32_t>(one.type) == type; });
    if (row == kTypes.end())
        return wrong(
            sentence("is of type %1 of ggml, which is not known here; known are f32, f16, bf16, q8_0, q4_0, q4_1, q6_k",
                { std::to_string(type) }));
    if (static_cast<std::uint64_t>(tensor.shape.back()) % row->blockNumbers != 0)
        return wrong(sentence("has rows of %1 numbers, which is not a multiple of %2",
            { std::to_string(tensor.shape.back()), toString(row->type) }));
    tensor.type = row->type;
    tensor.sizeBytes = numbers / row->blockNumbers * row->blockBytes;
    FURROW_TRY_ASSIGN(tensor.offset, cursor.number<std::uint64_t>());
    return tensor;
}

Result<std::uint64_t> alignmentOf(const Json& metadata)
{
    const auto found = metadata.find("general.alignment");
    if (found == metadata.end())
        return kGgufAlignment;
    const auto value = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    if (!std::has_single_bit(value) || value > kMostAlignment)
        return Error { ErrorCode::Corrupt, sentence("general.alignment is not a power of two up to 1048576") };
    return value;
}

/// Turns offsets in the data into offsets in the file, and holds them against its size and each other.
Status placeTensors(std::vector<GgufTensor>& tensors, std::uint64_t begin, std::uint64_t alignment, std::uint64_t size)
{
    std::stable_sort(
        tensors.begin(), tensors.end(), [](const GgufTensor& a, const GgufTensor& b) { return a.offset < b.offset; });
    std::uint64_t end = 0; // of the tensor before, in the data
    std::set<std::string_view> names;
    const std::uint64_t dataBytes = size > begin ? size - begin : 0;
    for (GgufTensor& tensor : tensors) {
        const auto wrong = [&](const Message& what) {
            return Error { ErrorCode::Corrupt, sentence("tensor '%1' %2", { plainLine(tensor.name, 100), what }) };
        };
        if (!names.insert(tensor.name).second)
            return wrong(sentence("is listed twice"));
        if (tensor.offset % alignment != 0)
            return wrong(sentence("begins at byte %1 of the data, which is not a multiple of %2",
                { std::to_string(tensor.offset), std::to_string(alignment) }));
        if (tensor.offset < end)
            return wrong(sentence("overlaps the one before it"));
        if (tensor.offset > dataBytes || tensor.sizeBytes > dataBytes - tensor.offset)
            return wrong(sentence("needs %1 bytes from byte %2 of the data, which has %3",
                { std::to_string(tensor.sizeBytes), std::to_string(tensor.offset), std::to_string(dataBytes) }));
        end = tensor.offset + tensor.sizeBytes;
        tensor.offset += begin;
    }
    return {};
}

} // namespace

const GgufTypeRow& rowOf(GgufType type)
{
    return *std::find_if(kTypes.begin(), kTypes.end(), [type](const GgufTypeRow& one) { return one.type == type; });
}

const GgufTensor* GgufFile::find(std::string_view name) const
{
    const auto found
        = std::find_if(tensors.begin(), tensors.end(), [name](const GgufTensor& one) { return one.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

std::string GgufFile::text(const char* key) const
{
    const auto found = metadata.find(key);
    return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string GgufFile::token(const char* key) const
{
    const auto id = metadata.find(key);
    const auto tokens = metadata.find("tokenizer.ggml.tokens");
    if (id == metadata.end() || !id->is_number_unsigned() || tokens == metadata.end() || !tokens->is_array()
        || id->get<std::uint64_t>() >= tokens->size())
        return {};
    const auto& token = (*tokens)[id->get<std::size_t>()];
    return token.is_string() ? token.get<std::string>() : std::string();
}

Result<GgufFile> parseGguf(const GgufBytes& bytes, std::uint64_t sizeBytes)
{
    Cursor cursor(bytes, sizeBytes);
    FURROW_TRY_ASSIGN(const auto counts, readCounts(cursor));
    GgufFile file;
    for (std::uint64_t i = 0; i < counts.metadata; ++i) {
        FURROW_TRY_ASSIGN(const auto key, cursor.text(kMostNameBytes));
        FURROW_TRY_ASSIGN(const auto kind, cursor.kind());
        auto value = cursor.value(kind);
        if (!value.ok())
            return value.error().in(plainLine(key, 100));
        if (!file.metadata.emplace(key, std::move(value).value()).second)
            return cursor.wrong(sentence("%1 is there twice", { plainLine(key, 100) }));
    }
    FURROW_TRY_ASSIGN(const auto alignment, alignmentOf(file.metadata));
    for (std::uint64_t i = 0; i < counts.tensors; ++i) {
        FURROW_TRY_ASSIGN(auto tensor, readTensor(cursor));
        file.tensors.push_back(std::move(tensor));
    }
    FURROW_TRY(placeTensors(file.tensors, aligned(cursor.place(), alignment), alignment, sizeBytes));
    return file;
}

Result<GgufFile> readGguf(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto file, RandomAccessFile::open(path));
    auto read
        = parseGguf([&file](std::uint64_t offset, std::span<std::byte> into) { return file.readAt(offset, into); },
            file.sizeBytes());
    return read.ok() ? std::move(read) : read.error().in(utf8Text(path));
}

bool isGguf(const std::filesystem::path& path)
{
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown))
        return false;
    const auto file = RandomAccessFile::open(path);
    std::array<char, kMagic.size()> first {};
    return file.ok() && file.value().sizeBytes() >= first.size()
        && file.value().readAt(0, std::as_writable_bytes(std::span(first))).ok()
        && std::string_view(first.data(), first.size()) == kMagic;
}

} // namespace furrow
