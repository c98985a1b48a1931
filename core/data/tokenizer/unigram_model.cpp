#include "core/data/tokenizer/unigram_model.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <limits>

namespace furrow {

namespace {

constexpr double kUnknownPenalty = 10; // of sentencepiece

Error noUnknown(std::string_view text)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "the vocabulary has no token for \"%1\", and unk_id names none", { std::string(text.substr(0, 40)) }) };
}

} // namespace

void UnigramModel::finish()
{
    std::vector<std::pair<std::string_view, std::uint32_t>> keys;
    auto least = std::numeric_limits<double>::infinity();
    for (TokenId id = 0; id < scores.size(); ++id) {
        least = std::min(least, scores[id]);
        if (!bytesOf(id).empty() && ids.find(bytesOf(id)) == id)
            keys.emplace_back(bytesOf(id), id);
    }
    tree_ = PrefixTree(std::move(keys));
    unknownScore_ = least - kUnknownPenalty;
}

Status UnigramModel::findBest(std::string_view piece, std::vector<Best>& best) const
{
    const char* end = piece.data() + piece.size();
    const auto offer = [&](std::size_t from, std::size_t to, TokenId id, double score) {
        auto& here = best[to];
        if (here.begin == SIZE_MAX || best[from].score + score > here.score)
            here = { best[from].score + score, from, id };
    };
    for (std::size_t at = 0; at < piece.size();) {
        const auto size = decodeChar(piece.data() + at, end).sizeBytes;
        bool single = false;
        auto node = PrefixTree::kRoot;
        for (auto to = at; to < piece.size();) {
            node = tree_.next(node, piece[to++]);
            if (node == PrefixTree::kNone)
                break;
            if (const auto id = tree_.value(node); id != PrefixTree::kNone) {
                offer(at, to, id, scores[id]);
                single = single || to - at == size;
            }
        }
        if (!single) {
            const auto before = best[at + size];
            offer(at, at + size, unknown.value_or(kNoToken), unknownScore_);
            if (!unknown && best[at + size].begin != before.begin)
                return noUnknown(piece.substr(at, size));
        }
        at += size;
    }
    return {};
}

Status UnigramModel::encodePiece(std::string_view piece, std::vector<TokenId>& out) const
{
    std::vector<Best> best(piece.size() + 1);
    FURROW_TRY(findBest(piece, best));
    std::vector<std::pair<std::size_t, std::size_t>> path; // pieces from the end, unknown neighbours as one
    bool fusing = false;
    for (auto end = piece.size(); end > 0; end = best[end].begin) {
        const bool isUnknown = unknown && best[end].id == *unknown;
        if (isUnknown && fusing)
            path.back().first = best[end].begin;
        else
            path.emplace_back(best[end].begin, end);
        fusing = isUnknown;
    }
    for (auto part = path.rbegin(); part != path.rend(); ++part) {
        const auto text = piece.substr(part->first, part->second - part->first);
        if (const auto id = ids.find(text); id != BytesMap::kNone)
            out.push_back(id);
        else if (auto status = appendUnknown(text, out); !status.ok())
            return status;
    }
    return {};
}

Status UnigramModel::appendUnknown(std::string_view text, std::vector<TokenId>& out) const
{
    const auto begin = out.size();
    static constexpr char kDigits[] = "0123456789ABCDEF";
    for (const char c : byteFallback ? text : std::string_view()) {
        const auto byte = static_cast<std::uint8_t>(c);
        const auto id = ids.find(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">");
        if (id == BytesMap::kNone) {
            out.resize(begin);
            break;
        }
        out.push_back(id);
    }
    if (out.size() > begin)
        return {};
    if (!unknown)
        return noUnknown(text);
    out.push_back(*unknown);
    return {};
}

} // namespace furrow
