#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

using TokenId = std::uint32_t;

/// Text to ids and back. Immutable once loaded; const methods are thread-safe and keep a bounded cache per thread.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// "byte", "char", "gpt2", or the name of the file it came from.
    virtual std::string name() const = 0;
    /// SHA-256 of what defines the ids: equal hashes give equal ids, whatever the name or the layout of the file.
    virtual std::string hash() const = 0;
    /// One more than the largest id.
    virtual std::uint32_t vocabularySize() const = 0;
    /// The id that joins samples. Text never encodes to it, unless encodeMatchingSpecial is asked.
    virtual TokenId endOfText() const = 0;
    /// The id that stands for whatever the vocabulary has no token for; nothing where every byte has one.
    virtual std::optional<TokenId> unknownToken() const { return std::nullopt; }
    /// A character can become no token, or a whole text none: what has no token in the vocabulary is dropped, or a rule
    /// takes it away.
    virtual bool dropsText() const { return false; }
    /// Characters of `text` that have no token, and no other token stands for them; what a rule takes away is not
    /// among them. @param matchesSpecial  as encodeMatchingSpecial reads the text
    virtual std::int64_t dropped(std::string_view /*text*/, bool /*matchesSpecial*/) const { return 0; }
    /// Appends the ids of `text`. Any bytes are allowed; special tokens written in the text are plain text. An error
    /// says that the ids of this text cannot be known (a pattern takes too many steps on it): `out` then ends anywhere,
    /// and nothing may be trained on it.
    virtual Status encode(std::string_view text, std::vector<TokenId>& out) const = 0;
    /// Like encode, but special tokens written in the text become their ids.
    virtual Status encodeMatchingSpecial(std::string_view text, std::vector<TokenId>& out) const
    {
        return encode(text, out);
    }
    /// The bytes of the ids. Byte, char and byte-level vocabularies without a normalizer give back exactly what was
    /// encoded. Ids outside the vocabulary give nothing.
    virtual std::string decode(std::span<const TokenId> ids) const = 0;
    /// Bytes to store beside a run: written to a file of any name, loadTokenizer reads the same tokenizer back.
    virtual std::string definition() const = 0;
};

/// @param nameOrPath  "byte", "gpt2", "char:PATH" with a saved definition, or the path of a tokenizer.json of the
///   BPE family, a sentencepiece .model, a tiktoken rank file, a GGUF or a saved definition. Detected by content.
Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const std::string& nameOrPath);
/// The same from bytes in memory.
/// @param name  what name() answers
Result<std::shared_ptr<const Tokenizer>> loadTokenizerDefinition(std::string_view definition, const std::string& name);

std::shared_ptr<const Tokenizer> byteTokenizer();

/// The version of the sentencepiece in this program, as "0.2.1".
std::string sentencepieceVersion();

/// What a character tokenizer does with bytes that are no known code point.
enum class CharFallback {
    Bytes, ///< 256 more ids, one per byte value, after end-of-text: nothing is ever lost
    Unknown, ///< one more id, after end-of-text, for any other character; Bytes where the text itself has bytes that
             ///< are none
    EndOfText, ///< each unknown byte becomes end-of-text: for comparisons on text that is known whole, and for runs of
               ///< before
};

/// A character tokenizer: ids 0..n-1 are the distinct code points in ascending order, n is end-of-text.
/// @param nextText  called until it returns false; gives the text to collect code points from, in pieces that cut no
///   code point
Result<std::shared_ptr<const Tokenizer>> buildCharTokenizer(
    const std::function<bool(std::string_view&)>& nextText, CharFallback fallback = CharFallback::Bytes);

} // namespace furrow
