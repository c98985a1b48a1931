#pragma once

#include "core/data/tokenizer/merge_table.h"
#include "core/data/tokenizer/piece_model.h"

#include <array>

namespace furrow {

/// Byte-pair merging: a piece becomes its symbols, and neighbours merge by rank.
class BpeModel final : public PieceModel {
public:
    MergeTable merges;
    bool byteLevel = true; ///< symbols are bytes; otherwise code points
    bool wholeFirst = false; ///< a piece that is in the vocabulary is not merged (ignore_merges; tiktoken)
    bool fuseUnknown = false;
    std::string continuingPrefix; ///< in front of every symbol but the first of a piece
    std::string endSuffix; ///< behind the last symbol of a piece
    std::string missingUnknown; ///< the name of an unknown token that the vocabulary does not have
    std::array<TokenId, 256> byteIds; ///< byte-level: its symbol; otherwise the fallback <0xXX>; kNoToken: none

    BpeModel() { byteIds.fill(kNoToken); }

    Status encodePiece(std::string_view piece, std::vector<TokenId>& out) const override;
    bool dropsCharacters() const override;
    std::int64_t dropped(std::string_view piece) const override;
    std::string tokenText(TokenId id) const override;

private:
    bool hasBytes(std::string_view symbol) const; ///< each of its bytes has a token
    std::string_view symbolAt(std::string_view piece, std::size_t at, std::size_t size, std::string& written) const;
    void byteSymbols(std::string_view piece, std::vector<TokenId>& symbols) const;
    Status codePointSymbols(std::string_view piece, std::vector<TokenId>& symbols) const;
};

} // namespace furrow
