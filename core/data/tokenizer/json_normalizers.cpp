#include "core/data/tokenizer/base64.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/json_steps.h"

namespace furrow {

namespace {

Result<NormalizerStep> readReplace(const Json& step)
{
    const auto pattern = patternOf(step);
    if (!pattern)
        return refused(sentence("a Replace has no pattern"));
    ReplaceText replace { pattern->text, textOr(step, "content", ""), nullptr };
    if (pattern->isRegex) {
        FURROW_TRY_ASSIGN(auto regex, Regex::compile(pattern->text));
        replace.pattern = regex;
    }
    return NormalizerStep(std::move(replace));
}

Result<NormalizerStep> readPrecompiled(const Json& step)
{
    const auto packed = fromBase64(textOr(step, "precompiled_charsmap", ""));
    if (!packed)
        return refused(sentence("precompiled_charsmap is not base64"));
    FURROW_TRY_ASSIGN(auto charsmap, PrecompiledCharsmap::read(*packed));
    return NormalizerStep(PrecompiledText { charsmap });
}

} // namespace

Result<NormalizerStep> readNormalizer(const Json& step)
{
    const auto type = textOr(step, "type", "");
    constexpr std::pair<std::string_view, UnicodeForm> kForms[] = { { "NFC", UnicodeForm::Nfc },
        { "NFD", UnicodeForm::Nfd }, { "NFKC", UnicodeForm::Nfkc }, { "NFKD", UnicodeForm::Nfkd } };
    for (const auto& [name, form] : kForms) {
        if (type == name)
            return NormalizerStep(form);
    }
    if (type == "Prepend")
        return NormalizerStep(PrependText { textOr(step, "prepend", "") });
    if (type == "Replace")
        return readReplace(step);
    if (type == "Lowercase")
        return NormalizerStep(LowercaseText {});
    if (type == "Strip")
        return NormalizerStep(StripSpaces { boolOr(step, "strip_left", true), boolOr(step, "strip_right", true) });
    if (type == "StripAccents")
        return NormalizerStep(StripAccents {});
    if (type == "BertNormalizer") {
        const bool lowercase = boolOr(step, "lowercase", true);
        return NormalizerStep(BertText { boolOr(step, "clean_text", true), boolOr(step, "handle_chinese_chars", true),
            boolOr(step, "strip_accents", lowercase), lowercase });
    }
    if (type == "Nmt")
        return NormalizerStep(NmtText {});
    if (type == "Precompiled")
        return readPrecompiled(step);
    if (type == "ByteLevel")
        return NormalizerStep(ByteLevelText {});
    return refused(sentence(
        "the normalizer %1 is not supported; supported are NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, Nmt, Precompiled, ByteLevel and Sequence",
        { type }));
}

} // namespace furrow
