#include "core/data/tokenizer/bpe_model.h"

#include "core/data/tokenizer/unicode_classes.h"

namespace furrow {

Status BpeModel::add(TokenId id, std::string_view bytes, bool matchable)
{
    if (id > kMaxTokenId)
        return Error { ErrorCode::InvalidArgument, "token id " + std::to_string(id) + " is larger than " + std::to_string(kMaxTokenId) };
    if (id >= tokens.size())
        tokens.resize(id + 1);
    tokens[id] = { arena.size(), static_cast<std::uint32_t>(bytes.size()), true };
    arena.append(bytes);
    if (matchable)
        ids.insert(bytes, id);
    return {};
}

void BpeModel::encodePiece(std::string_view piece, std::vector<TokenId>& out) const
{
    if (piece.empty())
        return;
    if (wholeFirst) {
        if (const auto id = ids.find(piece); id != BytesMap::kNone) {
            out.push_back(id);
            return;
        }
    }
    const auto begin = out.size();
    if (byteLevel) {
        for (const char c : piece) {
            const auto id = byteIds[static_cast<std::uint8_t>(c)];
            if (id != kNoToken)
                out.push_back(id);
            else if (unknown && !(fuseUnknown && out.size() > begin && out.back() == *unknown))
                out.push_back(*unknown);
        }
    } else {
        codePointSymbols(piece, out);
    }
    out.resize(begin + merges.merge(out.data() + begin, out.size() - begin));
}

void BpeModel::codePointSymbols(std::string_view piece, std::vector<TokenId>& symbols) const
{
    const auto begin = symbols.size();
    const char* end = piece.data() + piece.size();
    for (const char* p = piece.data(); p < end;) {
        const auto c = decodeChar(p, end);
        const std::string_view bytes(p, c.sizeBytes);
        p += c.sizeBytes;
        if (const auto id = ids.find(bytes); id != BytesMap::kNone) {
            symbols.push_back(id);
            continue;
        }
        bool fallback = true;
        for (const char byte : bytes)
            fallback = fallback && byteIds[static_cast<std::uint8_t>(byte)] != kNoToken;
        if (fallback) {
            for (const char byte : bytes)
                symbols.push_back(byteIds[static_cast<std::uint8_t>(byte)]);
        } else if (unknown && !(fuseUnknown && symbols.size() > begin && symbols.back() == *unknown)) {
            symbols.push_back(*unknown);
        }
    }
}

void PieceEncoder::missed(const char* p, std::size_t size, const WordCache::Key& key)
{
    flush();
    const auto begin = out_.size();
    model_.encodePiece({ p, size }, out_);
    const auto count = out_.size() - begin;
    if (count > 0 && count <= WordCache::kMaxBytes)
        cache_.insert(key, out_.data() + begin, count);
}

} // namespace furrow
