#include "core/data/tokenizer/bpe_model.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>

namespace furrow {

Status BpeModel::encodePiece(std::string_view piece, std::vector<TokenId>& out) const
{
    if (piece.empty())
        return {};
    if (wholeFirst) {
        if (const auto id = ids.find(piece); id != BytesMap::kNone) {
            out.push_back(id);
            return {};
        }
    }
    const auto begin = out.size();
    if (byteLevel)
        byteSymbols(piece, out);
    else if (auto status = codePointSymbols(piece, out); !status.ok())
        return status;
    out.resize(begin + merges.merge(out.data() + begin, out.size() - begin));
    return {};
}

void BpeModel::byteSymbols(std::string_view piece, std::vector<TokenId>& symbols) const
{
    const auto begin = symbols.size();
    for (const char c : piece) {
        const auto id = byteIds[static_cast<std::uint8_t>(c)];
        if (id != kNoToken)
            symbols.push_back(id);
        else if (unknown && !(fuseUnknown && symbols.size() > begin && symbols.back() == *unknown))
            symbols.push_back(*unknown);
    }
}

Status BpeModel::codePointSymbols(std::string_view piece, std::vector<TokenId>& symbols) const
{
    const char* end = piece.data() + piece.size();
    std::string written;
    bool pending
        = false; // an unknown symbol stands behind the fallback bytes that follow it, as in the tokenizers library
    for (const char* p = piece.data(); p < end;) {
        const auto size = decodeChar(p, end).sizeBytes;
        const auto symbol = symbolAt(piece, static_cast<std::size_t>(p - piece.data()), size, written);
        p += size;
        if (const auto id = ids.find(symbol); id != BytesMap::kNone) {
            if (pending)
                symbols.push_back(*unknown);
            pending = false;
            symbols.push_back(id);
            continue;
        }
        if (hasBytes(symbol)) {
            std::transform(symbol.begin(), symbol.end(), std::back_inserter(symbols),
                [this](char byte) { return byteIds[static_cast<std::uint8_t>(byte)]; });
        } else if (unknown) {
            if (pending && !fuseUnknown)
                symbols.push_back(*unknown);
            pending = true;
        } else if (!missingUnknown.empty()) {
            return Error { ErrorCode::InvalidArgument,
                sentence("the vocabulary has no token for \"%1\", and none called %2",
                    { std::string(symbol), missingUnknown }) };
        }
    }
    if (pending)
        symbols.push_back(*unknown);
    return {};
}

bool BpeModel::hasBytes(std::string_view symbol) const
{
    return std::none_of(symbol.begin(), symbol.end(),
        [this](char byte) { return byteIds[static_cast<std::uint8_t>(byte)] == kNoToken; });
}

/// The character at a place, with what a prefix or suffix adds to it there.
std::string_view BpeModel::symbolAt(
    std::string_view piece, std::size_t at, std::size_t size, std::string& written) const
{
    const auto symbol = piece.substr(at, size);
    if (continuingPrefix.empty() && endSuffix.empty())
        return symbol;
    written = (at > 0 ? continuingPrefix : "") + std::string(symbol) + (at + size == piece.size() ? endSuffix : "");
    return written;
}

bool BpeModel::dropsCharacters() const
{
    const bool hasAllBytes = std::find(byteIds.begin(), byteIds.end(), kNoToken) == byteIds.end();
    return !unknown && !hasAllBytes && (byteLevel || missingUnknown.empty());
}

std::int64_t BpeModel::dropped(std::string_view piece) const
{
    if (!dropsCharacters() || (wholeFirst && ids.find(piece) != BytesMap::kNone))
        return 0;
    std::int64_t count = 0;
    std::string written;
    for (std::size_t at = 0; at < piece.size();) {
        const auto size = decodeChar(piece.data() + at, piece.data() + piece.size()).sizeBytes;
        const auto symbol = byteLevel ? piece.substr(at, size) : symbolAt(piece, at, size, written);
        count += hasBytes(symbol) || (!byteLevel && ids.find(symbol) != BytesMap::kNone) ? 0 : 1;
        at += size;
    }
    return count;
}

std::string BpeModel::tokenText(TokenId id) const
{
    const auto bytes = bytesOf(id);
    if (byteLevel || bytes.size() != 1 || byteIds[static_cast<std::uint8_t>(bytes[0])] != id)
        return std::string(bytes);
    static constexpr char kDigits[] = "0123456789ABCDEF";
    const auto byte = static_cast<std::uint8_t>(bytes[0]);
    return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
}

} // namespace furrow
