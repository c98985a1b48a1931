#pragma once

#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

struct TokenizerBench {
    std::uint64_t textBytes = 0;
    std::uint64_t tokens = 0;
    double seconds = 0; ///< from the start of the threads to the end of the last
    double megabytesPerSecond() const { return seconds > 0 ? static_cast<double>(textBytes) / 1e6 / seconds : 0; }
};

/// An error: a piece that the tokenizer cannot encode. Encodes the text once, cut behind line ends into pieces of about
/// `pieceBytes`, with `threads` new threads whose caches are empty: a first pass.
Result<TokenizerBench> benchTokenizer(
    const Tokenizer& tokenizer, std::string_view text, int threads = 1, std::size_t pieceBytes = 20'000);

} // namespace furrow
