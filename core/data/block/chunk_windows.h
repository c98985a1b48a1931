#pragma once

#include "core/config/run_config.h"
#include "core/data/block/prepared_block.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// Everything the order of the samples inside a chunk depends on.
struct PackingOrder {
    std::int64_t seed = 0;
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int32_t column = 0;
    bool shuffle = true; ///< off: source order
};

/// How samples come to lie in windows.
struct WindowRules {
    std::int64_t seqLen = 0; ///< inputs and labels of a window
    DocumentMasks masks = DocumentMasks::Off; ///< Auto: of conversations
    Packing packing = Packing::EndToEnd; ///< Auto: see packingOf()
    bool pairs = false; ///< a sample is a pair of answers: see pairMiddle()
};

/// Of a sample that is a pair of answers (SampleEncoder): how many tokens the chosen one has with its prompt. The
/// rejected one follows, also with it. Of each what is learnt is its end, and never its first token.
std::int64_t pairMiddle(const ChunkText& text, std::size_t sample);

/// Samples are never kept apart with HRM, which sums up a window as a whole.
WindowRules windowRules(const RunConfig& config);

/// What automatic packing is for such samples.
Packing packingOf(const WindowRules& rules, bool isConversation);

/// Windows a chunk packs into: the feeder stores this number, ChunkWindows::count() equals it.
std::int32_t windowCount(const ChunkText& text, const WindowRules& rules);
/// The same of samples end to end, and the least that any packing needs.
/// @param tokens, samples  of the samples to be trained
std::int32_t windowCount(std::int64_t tokens, std::int64_t samples, std::int64_t seqLen);

/// A piece of a sample inside a window.
struct WindowPiece {
    std::int64_t sample = 0; ///< index in the ChunkText
    std::int64_t firstToken = 0; ///< inside the sample
    std::int64_t begin = 0; ///< place of the first label of the piece in the window
    std::int64_t labels = 0; ///< including the end-of-text after the sample
};

/// Packs the trained samples of one chunk into windows of `seqLen` inputs and labels.
/// The stream is: end-of-text, sample, end-of-text, sample, ... end-of-text, samples in an order drawn from
/// PackingOrder. Window w has inputs stream[wT, wT+T) and labels stream[wT+1, wT+T+1): each token of each sample is a
/// label exactly once. With best fit there are gaps, so that no sample goes over the end of a window that fits into
/// one. Gaps and the rest of the last window are filled up with end-of-text, their labels are -1. Of conversations the
/// labels that are not learnt are -1 too, and keep their places. Nothing of a chunk is dropped or carried into another
/// chunk. A plain function of its arguments. Const methods are thread-safe.
///
/// With masks a window falls into documents, which read nothing of each other. A document is a sample behind its
/// end-of-text, or a conversation before its own: so its first token is read and never learnt, as if it were trained
/// alone. What goes on in the next window begins a document there.
///
/// A pair of answers lies whole in one window and is two documents: what counts is then pairs, not labels.
class ChunkWindows {
public:
    /// @param text  must live as long as this
    ChunkWindows(const ChunkText& text, std::uint32_t endOfText, const WindowRules& rules, const PackingOrder& order);

    int count() const { return count_; }
    /// Writes windows [begin, begin + n), n x seqLen each, row by row.
    void fill(int begin, int n, std::int64_t* inputs, std::int64_t* labels) const;
    bool masksDocuments() const { return isMasked_; }
    /// Of each input of windows [begin, begin + n) its place in its document, from 0.
    void places(int begin, int n, std::int64_t* into) const;
    /// Labels that stand for text, learnt or not: what the ledger counts.
    std::int64_t labelCount(int window) const;
    /// What the loss counts: of these labels those that are learnt, or pairs.
    std::int64_t learntCount(int window) const;
    bool holdsPairs() const { return pairs_; }
    /// Of each label of windows [begin, begin + n) which answer it belongs to, counted from the first of these windows
    /// on: 2 p where it is the chosen one of pair p, 2 p + 1 where it is the rejected one; -1 where it is not learnt.
    void answers(int begin, int n, std::int64_t* into) const;
    std::vector<WindowPiece> pieces(int window) const;

private:
    std::int64_t labelsOf(std::size_t place) const; ///< of a sample by its place in the order, its end-of-text included
    /// The first sample in the order that has a label at the stream position or behind it.
    std::size_t firstAt(std::int64_t position) const;
    /// Calls `each` with the pieces of a window, one after the other.
    template <typename Each> void eachPiece(int window, Each each) const;
    /// Stream positions [from, from + n) into `into`; in gaps and beyond the end: `pad`.
    void copy(std::int64_t from, std::int64_t n, std::int64_t pad, std::int64_t* into) const;
    /// Whether the loss counts a label of a piece; the one behind the tokens is the end-of-text.
    bool isLearnt(const WindowPiece& piece, std::int64_t label) const;

    const ChunkText& text_;
    std::uint32_t endOfText_;
    std::int64_t seqLen_;
    bool isMasked_;
    bool pairs_;
    std::vector<std::uint32_t> samples_; ///< index in text_, in training order
    std::vector<std::int64_t> starts_; ///< stream position of the first token of each, rising
    int count_ = 0;
};

} // namespace furrow
