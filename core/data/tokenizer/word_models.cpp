#include "core/data/tokenizer/word_models.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

namespace furrow {

namespace {

Status appendUnknown(
    const PieceModel& model, std::string_view piece, const std::string& name, std::vector<TokenId>& out)
{
    if (!model.unknown)
        return Error { ErrorCode::InvalidArgument,
            sentence("the vocabulary has no token for \"%1\", and none called %2",
                { std::string(piece.substr(0, 40)), name }) };
    out.push_back(*model.unknown);
    return {};
}

} // namespace

void WordPieceModel::finish()
{
    std::vector<std::pair<std::string_view, std::uint32_t>> keys;
    for (TokenId id = 0; id < tokens.size(); ++id) {
        if (tokens[id].known && !bytesOf(id).empty() && ids.find(bytesOf(id)) == id)
            keys.emplace_back(bytesOf(id), id);
    }
    tree_ = PrefixTree(std::move(keys));
    continuing_ = tree_.walk(continuingPrefix);
}

bool WordPieceModel::split(std::string_view piece, std::vector<TokenId>& out) const
{
    for (std::size_t at = 0; at < piece.size();) {
        auto node = at == 0 ? PrefixTree::kRoot : continuing_;
        auto longest = PrefixTree::kNone;
        auto behind = at;
        for (auto to = at; to < piece.size() && node != PrefixTree::kNone;) {
            node = tree_.next(node, piece[to++]);
            if (node != PrefixTree::kNone && tree_.value(node) != PrefixTree::kNone) {
                longest = tree_.value(node);
                behind = to;
            }
        }
        if (longest == PrefixTree::kNone)
            return false;
        out.push_back(longest);
        at = behind;
    }
    return true;
}

Status WordPieceModel::encodePiece(std::string_view piece, std::vector<TokenId>& out) const
{
    std::uint64_t characters = 0;
    const char* end = piece.data() + piece.size();
    for (const char* p = piece.data(); p < end; p += decodeChar(p, end).sizeBytes)
        ++characters;
    const auto begin = out.size();
    if (characters <= longestWord && split(piece, out))
        return {};
    out.resize(begin);
    return appendUnknown(*this, piece, unknownName, out);
}

Status WordLevelModel::encodePiece(std::string_view piece, std::vector<TokenId>& out) const
{
    if (const auto id = ids.find(piece); id != BytesMap::kNone) {
        out.push_back(id);
        return {};
    }
    return appendUnknown(*this, piece, unknownName, out);
}

} // namespace furrow
