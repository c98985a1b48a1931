#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// What a token is, in GGUF and in sentencepiece alike.
enum class PieceKind : std::int32_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

/// A vocabulary of pieces with scores, as a .model of sentencepiece and a GGUF hold it.
struct PieceList {
    struct Piece {
        std::string text;
        float score = 0;
        PieceKind kind = PieceKind::Normal;
    };
    std::vector<Piece> pieces;
    std::string unknown, begin, end, padding; ///< texts of these pieces; "": there is none
    bool isBpe = true; ///< pieces are merged by score; false: the likeliest split is looked for
    bool addsSpace = true; ///< a space in front of the text
    bool removesSpaces = false; ///< several spaces become one, those at the ends none
    bool isPlain = true; ///< nothing else happens to the text before
};

/// The bytes of a .model, which sentencepiece reads.
std::string sentencepieceModel(const PieceList& list);
/// Reads a .model, which may come from anywhere. Corrupt: it is none.
Result<PieceList> readPieceList(std::string_view model);

} // namespace furrow
