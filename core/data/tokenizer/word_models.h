#pragma once

#include "core/data/tokenizer/piece_model.h"
#include "core/data/tokenizer/prefix_tree.h"

namespace furrow {

/// BERT's: the longest token at the front, then the longest with a prefix ("##"), and so on; a word that does not come
/// out is one unknown token.
class WordPieceModel final : public PieceModel {
public:
    std::string unknownName = "[UNK]";
    std::string continuingPrefix = "##";
    std::uint64_t longestWord = 100; ///< longer ones are unknown [code points]

    /// Once all tokens are there.
    void finish();
    Status encodePiece(std::string_view piece, std::vector<TokenId>& out) const override;

private:
    bool split(std::string_view piece, std::vector<TokenId>& out) const;

    PrefixTree tree_;
    PrefixTree::Node continuing_ = PrefixTree::kRoot; ///< behind the prefix
};

/// A token for each word.
class WordLevelModel final : public PieceModel {
public:
    std::string unknownName = "<unk>";
    Status encodePiece(std::string_view piece, std::vector<TokenId>& out) const override;
};

} // namespace furrow
