#pragma once

#include "core/data/tokenizer/tokenizer.h"

#include <array>

namespace furrow {

/// A token that is found in the text before anything else happens to it.
struct AddedToken {
    TokenId id = 0;
    std::string content;
    bool special = false;
    bool singleWord = false;
    bool stripLeft = false;
    bool stripRight = false;
    bool normalized = false; ///< matched after the normalizer, not before
};

/// Finds added tokens, the longest at each place. Const methods are thread-safe.
class AddedTokenFinder {
public:
    AddedTokenFinder() = default;
    explicit AddedTokenFinder(std::vector<AddedToken> tokens);

    bool empty() const { return tokens_.empty(); }
    bool hasPlain() const { return hasPlain_; } ///< some are found even when special ones are not asked for

    /// A stretch of the text, and the token it is (kNoAddedToken: none).
    struct Piece {
        std::string_view text;
        TokenId id;
    };
    static constexpr TokenId kNoAddedToken = UINT32_MAX;
    /// @param special  special tokens are found as well; otherwise their text is plain text
    std::vector<Piece> split(std::string_view text, bool special) const;

private:
    const AddedToken* longestAt(std::string_view text, std::size_t at) const;

    std::vector<AddedToken> tokens_; // longest first within one first byte
    std::array<std::uint32_t, 257> firstByte_ {}; // tokens_ of byte b: [firstByte_[b], firstByte_[b + 1])
    bool hasPlain_ = false;
};

} // namespace furrow
