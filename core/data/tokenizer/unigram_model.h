#pragma once

#include "core/data/tokenizer/piece_model.h"
#include "core/data/tokenizer/prefix_tree.h"

namespace furrow {

/// The most probable way to write a piece with tokens of known probability (Kudo 2018, arXiv:1804.10959), as the
/// tokenizers library finds it.
class UnigramModel final : public PieceModel {
public:
    std::vector<double> scores; ///< log probability of each id
    bool byteFallback = false; ///< what has no token becomes <0xXX> for each of its bytes, where all of these are there

    /// Once all tokens are there.
    void finish();
    Status encodePiece(std::string_view piece, std::vector<TokenId>& out) const override;

private:
    struct Best {
        double score = 0;
        std::size_t begin = SIZE_MAX; ///< where the last token of the best path to here begins; SIZE_MAX: no path yet
        TokenId id = 0;
    };
    Status findBest(std::string_view piece, std::vector<Best>& best) const;
    Status appendUnknown(std::string_view text, std::vector<TokenId>& out) const;

    PrefixTree tree_;
    double unknownScore_ = 0;
};

} // namespace furrow
