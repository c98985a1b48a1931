#pragma once

#include "core/data/tokenizer/bytes_map.h"
#include "core/data/tokenizer/tokenizer.h"

#include <optional>

namespace furrow {

inline constexpr TokenId kNoToken = UINT32_MAX;
/// Ids are indices of tables: a larger one is refused.
inline constexpr TokenId kMaxTokenId = (1u << 24) - 1;

/// A vocabulary, and how it makes ids of one piece of text, without anything that happens before or after it. Read-only
/// use is thread-safe.
class PieceModel {
public:
    /// The bytes of each id; ids may have holes (nothing there).
    struct Token {
        std::uint64_t offset = 0;
        std::uint32_t size = 0;
        bool known = false;
    };

    virtual ~PieceModel() = default;

    /// Appends the ids of one piece, without any cache. An error: the piece has a character without a token, and the
    /// model no token for such.
    virtual Status encodePiece(std::string_view piece, std::vector<TokenId>& out) const = 0;
    /// A character of some piece becomes nothing at all.
    virtual bool dropsCharacters() const { return false; }
    /// How many of a piece do.
    virtual std::int64_t dropped(std::string_view /*piece*/) const { return 0; }
    /// What the tokenizers library would call the token, for its decoders.
    virtual std::string tokenText(TokenId id) const { return std::string(bytesOf(id)); }

    /// @param matchable  text can become this token; otherwise it is only decoded
    Status add(TokenId id, std::string_view bytes, bool matchable);
    std::string_view bytesOf(TokenId id) const
    {
        return id < tokens.size() ? std::string_view(arena).substr(tokens[id].offset, tokens[id].size) : "";
    }

    std::string arena;
    std::vector<Token> tokens;
    BytesMap ids; ///< bytes of a token to its id, for tokens that text can become
    std::optional<TokenId> unknown;

protected:
    PieceModel() = default;
    PieceModel(PieceModel&&) = default;
    PieceModel& operator=(PieceModel&&) = default;
};

} // namespace furrow
