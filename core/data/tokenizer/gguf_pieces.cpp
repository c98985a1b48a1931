// The few fields of sentencepiece_model.proto that decide ids, in the wire format of protocol buffers.

#include "core/data/tokenizer/gguf_pieces.h"

#include "core/base/sentence.h"

#include <bit>
#include <cstring>
#include <optional>

namespace furrow {

namespace {

enum Wire : std::uint64_t { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };
// Fields of ModelProto, of SentencePiece, of TrainerSpec, of NormalizerSpec.
constexpr std::uint64_t kPieces = 1, kTrainer = 2, kNormalizer = 3;
constexpr std::uint64_t kText = 1, kScore = 2, kKind = 3;
constexpr std::uint64_t kModelType = 3, kByteFallback = 35, kUnknownPiece = 45, kBeginPiece = 46, kEndPiece = 47,
                        kPaddingPiece = 48;
constexpr std::uint64_t kName = 1, kCharsMap = 2, kAddsSpace = 3, kRemovesSpaces = 4;
constexpr std::uint64_t kUnigram = 1, kBpe = 2; // values of kModelType

void putVarint(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

void putNumber(std::string& out, std::uint64_t field, std::uint64_t value)
{
    putVarint(out, field << 3 | kVarint);
    putVarint(out, value);
}

void putBytes(std::string& out, std::uint64_t field, std::string_view bytes)
{
    putVarint(out, field << 3 | kBytes);
    putVarint(out, bytes.size());
    out += bytes;
}

void putFloat(std::string& out, std::uint64_t field, float value)
{
    putVarint(out, field << 3 | kFour);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}

struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0; ///< of a number; bits of a float
    std::string_view bytes;
};

/// Takes one field after the other from a message; stops at the first that is broken.
class Fields {
public:
    explicit Fields(std::string_view message)
        : left_(message)
    {
    }
    bool isBroken() const { return isBroken_; }

    std::optional<Field> next()
    {
        if (left_.empty() || isBroken_)
            return {};
        const std::uint64_t key = varint();
        Field field { key >> 3, 0, {} };
        switch (key & 7) {
        case kVarint: field.value = varint(); break;
        case kBytes: field.bytes = take(varint()); break;
        case kFour: field.value = number<std::uint32_t>(); break;
        case kEight: field.value = number<std::uint64_t>(); break;
        default: isBroken_ = true;
        }
        return isBroken_ ? std::nullopt : std::optional(field);
    }

private:
    std::uint64_t varint()
    {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::string_view one = take(1);
            const auto byte = one.empty() ? 0u : static_cast<unsigned char>(one.front());
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0)
                return value;
        }
        isBroken_ = true;
        return 0;
    }

    std::string_view take(std::uint64_t size)
    {
        if (size > left_.size()) {
            isBroken_ = true;
            return {};
        }
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }

    template <typename T> T number()
    {
        T value = 0;
        const std::string_view bytes = take(sizeof value);
        if (bytes.size() == sizeof value)
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }

    std::string_view left_;
    bool isBroken_ = false;
};

bool readPiece(std::string_view message, PieceList& list)
{
    PieceList::Piece piece;
    Fields fields(message);
    while (const auto field = fields.next()) {
        if (field->number == kText)
            piece.text = field->bytes;
        else if (field->number == kScore)
            piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
        else if (field->number == kKind && field->value >= 1 && field->value <= 6)
            piece.kind = static_cast<PieceKind>(field->value);
        else if (field->number == kKind)
            return false;
    }
    list.pieces.push_back(std::move(piece));
    return !fields.isBroken();
}

bool readTrainer(std::string_view message, PieceList& list)
{
    Fields fields(message);
    while (const auto field = fields.next()) {
        switch (field->number) {
        case kModelType: list.isBpe = field->value == kBpe; break;
        case kUnknownPiece: list.unknown = field->bytes; break;
        case kBeginPiece: list.begin = field->bytes; break;
        case kEndPiece: list.end = field->bytes; break;
        case kPaddingPiece: list.padding = field->bytes; break;
        default: break;
        }
    }
    return !fields.isBroken();
}

bool readNormalizer(std::string_view message, PieceList& list)
{
    Fields fields(message);
    while (const auto field = fields.next()) {
        switch (field->number) {
        case kCharsMap: list.isPlain = field->bytes.empty(); break;
        case kAddsSpace: list.addsSpace = field->value != 0; break;
        case kRemovesSpaces: list.removesSpaces = field->value != 0; break;
        default: break;
        }
    }
    return !fields.isBroken();
}

} // namespace

std::string sentencepieceModel(const PieceList& list)
{
    std::string model;
    bool hasBytes = false;
    for (const auto& piece : list.pieces) {
        std::string message;
        putBytes(message, kText, piece.text);
        putFloat(message, kScore, piece.score);
        putNumber(message, kKind, static_cast<std::uint64_t>(piece.kind));
        putBytes(model, kPieces, message);
        hasBytes = hasBytes || piece.kind == PieceKind::Byte;
    }
    std::string trainer;
    putNumber(trainer, kModelType, list.isBpe ? kBpe : kUnigram);
    putNumber(trainer, kByteFallback, hasBytes);
    putBytes(trainer, kUnknownPiece, list.unknown);
    putBytes(trainer, kBeginPiece, list.begin);
    putBytes(trainer, kEndPiece, list.end);
    putBytes(trainer, kPaddingPiece, list.padding);
    putBytes(model, kTrainer, trainer);
    std::string normalizer;
    putBytes(normalizer, kName, "identity");
    putNumber(normalizer, kAddsSpace, list.addsSpace);
    putNumber(normalizer, kRemovesSpaces, list.removesSpaces);
    putBytes(model, kNormalizer, normalizer);
    return model;
}

Result<PieceList> readPieceList(std::string_view model)
{
    PieceList list { {}, "<unk>", "<s>", "</s>", "<pad>", false, true, true, true }; // the defaults of its trainer
    bool isWhole = true;
    Fields fields(model);
    while (const auto field = fields.next()) {
        if (field->number == kPieces)
            isWhole = isWhole && readPiece(field->bytes, list);
        else if (field->number == kTrainer)
            isWhole = isWhole && readTrainer(field->bytes, list);
        else if (field->number == kNormalizer)
            isWhole = isWhole && readNormalizer(field->bytes, list);
    }
    if (!isWhole || fields.isBroken() || list.pieces.empty())
        return Error { ErrorCode::Corrupt, sentence("it is not a sentencepiece model") };
    return list;
}

} // namespace furrow
