#include "core/data/tokenizer/json_steps.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <algorithm>

// Reads what decides the ids and the text of ids. Post-processor, padding and truncation are left aside: Furrow packs
// samples itself.

namespace furrow {

namespace {

constexpr std::size_t kMaxJsonBytes = 64u << 20;
constexpr std::size_t kMaxSteps = 256;

/// The steps of one part, each read by `read`; none where the part is null.
template <typename Step>
Status readSteps(const Json& part, const char* key, Result<Step> (*read)(const Json&), std::vector<Step>& out)
{
    std::vector<const Json*> steps;
    if (part.is_null())
        return {};
    FURROW_TRY(flatten(part, key, steps));
    if (steps.size() > kMaxSteps)
        return refused(sentence("%1 are more than %2", { key, std::to_string(kMaxSteps) }));
    for (const auto* step : steps) {
        FURROW_TRY_ASSIGN(auto made, read(*step));
        out.push_back(std::move(made));
    }
    return {};
}

/// Another engine gave other ids before; of the o200k pattern it gave the same.
bool needsEngineInHash(const PreTokenizerStep& step, const Json& json)
{
    const auto* split = std::get_if<SplitStep>(&step);
    const auto pattern = patternOf(json);
    return split != nullptr && split->pattern == SplitPattern::Regex && pattern && pattern->text != kO200kPattern;
}

Status readPipeline(const Json& root, TokenizerSpec& spec)
{
    const auto& normalizer = member(root, "normalizer");
    FURROW_TRY(readSteps(normalizer, "normalizers", readNormalizer, spec.normalizer));
    const auto& preTokenizer = member(root, "pre_tokenizer");
    FURROW_TRY(readSteps(preTokenizer, "pretokenizers", readPreTokenizer, spec.preTokenizer));
    FURROW_TRY(readSteps(member(root, "decoder"), "decoders", readDecoder, spec.decoder));
    if (!normalizer.is_null())
        spec.settings += "\nnormalizer " + shown(normalizer);
    if (preTokenizer.is_null())
        return {};
    spec.settings += "\npre_tokenizer " + shown(preTokenizer);
    std::vector<const Json*> steps;
    (void)flatten(preTokenizer, "pretokenizers", steps); // it could be read above
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (needsEngineInHash(spec.preTokenizer[i], *steps[i]))
            spec.settings += "\nOniguruma";
        const auto* metaspace = std::get_if<MetaspaceStep>(&spec.preTokenizer[i]);
        if (i > 0 && metaspace != nullptr && metaspace->prepend == PrependScheme::First && !spec.normalizer.empty())
            return refused(sentence(
                "a Metaspace with prepend_scheme first after another pre-tokenizer and a normalizer is not supported"));
    }
    return {};
}

/// The bytes of the text can be the symbols of the model: it is byte-pair, and nothing else sees the alphabet of bytes.
bool isByteLevel(const Json& model, const TokenizerSpec& spec)
{
    const auto isByteStep = [](const auto& step) { return std::holds_alternative<ByteLevelStep>(step); };
    const bool last = std::count_if(spec.preTokenizer.begin(), spec.preTokenizer.end(), isByteStep) == 1
        && isByteStep(spec.preTokenizer.back());
    const bool decodes = spec.decoder.empty()
        || (spec.decoder.size() == 1 && std::holds_alternative<ByteLevelDecoder>(spec.decoder[0]));
    const bool plain = textOr(model, "continuing_subword_prefix", "").empty()
        && textOr(model, "end_of_word_suffix", "").empty() && !boolOr(model, "byte_fallback", false);
    const auto isAlphabet = [](const auto& step) { return std::holds_alternative<ByteLevelText>(step); };
    return textOr(model, "type", "BPE") == "BPE" && last && decodes && plain
        && std::none_of(spec.normalizer.begin(), spec.normalizer.end(), isAlphabet);
}

/// The ids that the tokenizers library gives: those of the vocabulary, else the next ones, whatever the file says.
class AddedIds {
public:
    explicit AddedIds(const PieceModel& model)
        : next_(static_cast<std::uint64_t>(
              std::count_if(model.tokens.begin(), model.tokens.end(), [](const auto& token) { return token.known; })))
    {
    }
    std::uint64_t idOf(const std::string& content, BytesMap& entries)
    {
        if (const auto id = entries.find(content); id != BytesMap::kNone)
            return id;
        entries.insert(content, static_cast<std::uint32_t>(next_));
        return next_++;
    }

private:
    std::uint64_t next_;
};

SpecialTexts specialTexts(const Json& root)
{
    SpecialTexts texts;
    const auto& added = member(root, "added_tokens");
    if (added.is_array())
        for (const auto& entry : added)
            if (boolOr(entry, "special", false))
                texts.insert(textOr(entry, "content", ""));
    return texts;
}

Status readAddedTokens(const Json& root, TokenizerSpec& spec, BytesMap& entries)
{
    const auto& added = member(root, "added_tokens");
    if (!added.is_array())
        return {};
    AddedIds ids(*spec.model);
    for (const auto& entry : added) {
        const auto id = numberOf(member(entry, "id"), kMaxTokenId);
        if (!id)
            return refused(sentence("added_tokens: an entry has no id from 0 to %1", { std::to_string(kMaxTokenId) }));
        AddedToken token { static_cast<TokenId>(*id), textOr(entry, "content", "") };
        if (const auto theirs = token.content.empty() ? *id : ids.idOf(token.content, entries); theirs != *id)
            return refused(sentence("added_tokens: \"%1\" has the id %2, and the tokenizers library gives it %3",
                { token.content, std::to_string(*id), std::to_string(theirs) }));
        token.special = boolOr(entry, "special", false);
        token.singleWord = boolOr(entry, "single_word", false);
        token.stripLeft = boolOr(entry, "lstrip", false);
        token.stripRight = boolOr(entry, "rstrip", false);
        token.normalized = boolOr(entry, "normalized", !token.special);
        FURROW_TRY(spec.model->add(token.id, token.content, false));
        spec.settings += "\nadded " + shown(entry);
        spec.addedTokens.push_back(std::move(token));
    }
    return {};
}

} // namespace

Status flatten(const Json& step, const char* key, std::vector<const Json*>& out)
{
    if (textOr(step, "type", "") != "Sequence") {
        out.push_back(&step);
        return {};
    }
    const auto& steps = member(step, key);
    if (!steps.is_array())
        return refused(sentence("a Sequence has no list %1", { key }));
    for (const auto& inner : steps) {
        FURROW_TRY(flatten(inner, key, out));
    }
    return {};
}

std::optional<JsonPattern> patternOf(const Json& step)
{
    const auto& pattern = member(step, "pattern");
    if (const auto* literal = stringOf(member(pattern, "String")))
        return JsonPattern { *literal, literal->empty() };
    if (const auto* expression = stringOf(member(pattern, "Regex")))
        return JsonPattern { *expression, true };
    return {};
}

Result<TokenizerSpec> readTokenizerJson(std::string_view text)
{
    if (text.size() > kMaxJsonBytes)
        return refused(sentence("it is larger than 64 MiB"));
    const Json root = parseBoundedJson(text); // a file made to exhaust memory or stack is nested deep
    if (root.is_discarded())
        return Error { ErrorCode::Corrupt, sentence("it is not valid JSON") };
    if (!root.is_object())
        return refused(sentence("it is not a JSON object"));
    TokenizerSpec spec;
    spec.definition = text;
    spec.settings = "tokenizer.json";
    FURROW_TRY(readPipeline(root, spec));
    const auto& json = member(root, "model");
    if (!json.is_object())
        return refused(sentence("it has no model"));
    spec.byteLevel = isByteLevel(json, spec);
    if (spec.byteLevel)
        std::get<ByteLevelStep>(spec.preTokenizer.back()).writesAlphabet = false;
    BytesMap entries;
    FURROW_TRY_ASSIGN(auto model, readModel(json, spec.byteLevel, specialTexts(root), spec.settings, entries));
    spec.model = model;
    FURROW_TRY(readAddedTokens(root, spec, entries));
    return spec;
}

} // namespace furrow
