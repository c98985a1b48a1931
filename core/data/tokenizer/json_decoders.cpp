#include "core/data/tokenizer/json_steps.h"

#include "core/base/sentence.h"

namespace furrow {

Result<DecoderStep> readDecoder(const Json& step)
{
    const auto type = textOr(step, "type", "");
    if (type == "ByteLevel")
        return DecoderStep(ByteLevelDecoder {});
    if (type == "WordPiece")
        return DecoderStep(WordPieceDecoder { textOr(step, "prefix", "##"), boolOr(step, "cleanup", true) });
    if (type == "ByteFallback")
        return DecoderStep(ByteFallbackDecoder {});
    if (type == "Fuse")
        return DecoderStep(FuseDecoder {});
    if (type == "Strip") {
        constexpr std::uint64_t kMost = 1u << 20;
        return DecoderStep(StripDecoder { textOr(step, "content", " "),
            numberOf(member(step, "start"), kMost).value_or(0), numberOf(member(step, "stop"), kMost).value_or(0) });
    }
    if (type == "Metaspace") {
        const auto scheme = textOr(step, "prepend_scheme", boolOr(step, "add_prefix_space", true) ? "always" : "never");
        return DecoderStep(MetaspaceDecoder { textOr(step, "replacement", "\xE2\x96\x81"), scheme != "never" });
    }
    if (type == "BPEDecoder")
        return DecoderStep(BpeSuffixDecoder { textOr(step, "suffix", "</w>") });
    if (type == "Replace") {
        const auto pattern = patternOf(step);
        if (!pattern)
            return refused(sentence("a Replace has no pattern"));
        ReplaceDecoder replace { nullptr, pattern->text, textOr(step, "content", "") };
        if (!pattern->isRegex)
            return DecoderStep(std::move(replace));
        FURROW_TRY_ASSIGN(auto regex, Regex::compile(pattern->text));
        replace.pattern = regex;
        return DecoderStep(std::move(replace));
    }
    return refused(sentence(
        "the decoder %1 is not supported; supported are ByteLevel, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder, Replace and Sequence",
        { type }));
}

} // namespace furrow
