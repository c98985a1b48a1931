#include "core/data/tokenizer/added_tokens.h"

#include "core/data/tokenizer/reference_characters.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>

namespace furrow {

namespace {

DecodedChar lastChar(std::string_view text)
{
    for (std::size_t size = std::min<std::size_t>(4, text.size()); size > 1; --size) {
        const auto tail = text.substr(text.size() - size);
        const auto c = decodeChar(tail.data(), tail.data() + size);
        if (c.sizeBytes == size)
            return c;
    }
    return decodeChar(text.data() + text.size() - 1, text.data() + text.size());
}

bool standsAlone(std::string_view text, std::size_t begin, std::size_t end)
{
    const bool left = begin == 0 || !isReferenceWord(lastChar(text.substr(0, begin)).codePoint);
    const bool right
        = end == text.size() || !isReferenceWord(decodeChar(text.data() + end, text.data() + text.size()).codePoint);
    return left && right;
}

std::size_t withoutSpacesBefore(std::string_view text, std::size_t begin, std::size_t floor)
{
    while (begin > floor) {
        const auto c = lastChar(text.substr(0, begin));
        if (!isReferenceSpace(c.codePoint))
            break;
        begin -= c.sizeBytes;
    }
    return std::max(begin, floor);
}

std::size_t withSpacesBehind(std::string_view text, std::size_t end)
{
    while (end < text.size()) {
        const auto c = decodeChar(text.data() + end, text.data() + text.size());
        if (!isReferenceSpace(c.codePoint))
            break;
        end += c.sizeBytes;
    }
    return end;
}

} // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens))
{
    std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
    const auto first = [](const AddedToken& token) { return static_cast<std::uint8_t>(token.content[0]); };
    std::stable_sort(tokens_.begin(), tokens_.end(), [&](const AddedToken& a, const AddedToken& b) {
        return first(a) != first(b) ? first(a) < first(b) : a.content.size() > b.content.size();
    });
    for (const auto& token : tokens_) {
        ++firstByte_[first(token) + 1u];
        hasPlain_ = hasPlain_ || !token.special;
    }
    for (std::size_t i = 1; i < firstByte_.size(); ++i)
        firstByte_[i] += firstByte_[i - 1];
}

const AddedToken* AddedTokenFinder::longestAt(std::string_view text, std::size_t at) const
{
    const auto byte = static_cast<std::uint8_t>(text[at]);
    for (auto i = firstByte_[byte]; i < firstByte_[byte + 1u]; ++i) {
        if (text.substr(at).starts_with(tokens_[i].content))
            return &tokens_[i];
    }
    return nullptr;
}

std::vector<AddedTokenFinder::Piece> AddedTokenFinder::split(std::string_view text, bool special) const
{
    std::vector<Piece> pieces;
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto* token = longestAt(text, at);
        if (!token) {
            ++at;
            continue;
        }
        const auto behind = at + token->content.size();
        const bool wanted = (special || !token->special) && (!token->singleWord || standsAlone(text, at, behind));
        if (!wanted) {
            at = behind;
            continue;
        }
        const auto begin = token->stripLeft ? withoutSpacesBefore(text, at, done) : at;
        const auto end = token->stripRight ? withSpacesBehind(text, behind) : behind;
        if (begin > done)
            pieces.push_back({ text.substr(done, begin - done), kNoAddedToken });
        pieces.push_back({ text.substr(begin, end - begin), token->id });
        done = end;
        at = behind;
    }
    if (done < text.size())
        pieces.push_back({ text.substr(done), kNoAddedToken });
    return pieces;
}

} // namespace furrow
