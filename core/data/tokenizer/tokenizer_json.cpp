#include "core/data/tokenizer/bpe_tokenizer.h"
#include "core/data/tokenizer/byte_alphabet.h"

#include <nlohmann/json.hpp>

#include <algorithm>

// Reads what decides the ids. Post-processor, padding and truncation are left aside: Furrow packs samples itself.

namespace furrow {

namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxJsonBytes = 64u << 20;

Error refused(const std::string& why) { return { ErrorCode::InvalidArgument, why }; }

/// The member, or null when it is missing or `object` is none.
const json& member(const json& object, const char* key)
{
    static const json kNothing;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : kNothing;
}

const std::string* stringOf(const json& value)
{
    return value.get_ptr<const std::string*>();
}

std::string textOr(const json& object, const char* key, std::string_view otherwise)
{
    const auto* text = stringOf(member(object, key));
    return text != nullptr ? *text : std::string(otherwise);
}

bool boolOr(const json& object, const char* key, bool otherwise)
{
    const auto& value = member(object, key);
    return value.is_boolean() ? value.get<bool>() : otherwise;
}

/// A whole number from 0 to `most`.
std::optional<std::uint64_t> numberOf(const json& value, std::uint64_t most)
{
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
        return {};
    return value.get<std::uint64_t>();
}

std::string shown(const json& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The elements of a "Sequence" under `key`, or the element itself: the format nests them at will.
Status flatten(const json& step, const char* key, std::vector<const json*>& out)
{
    if (textOr(step, "type", "") != "Sequence") {
        out.push_back(&step);
        return {};
    }
    const auto& steps = member(step, key);
    if (!steps.is_array())
        return refused(std::string("a Sequence has no list ") + key);
    for (const auto& inner : steps) {
        if (const auto status = flatten(inner, key, out); !status.ok())
            return status;
    }
    return {};
}

Status readNormalizer(const json& step, BpeSpec& spec)
{
    const auto type = textOr(step, "type", "");
    constexpr std::pair<std::string_view, UnicodeForm> kForms[]
        = { { "NFC", UnicodeForm::Nfc }, { "NFD", UnicodeForm::Nfd }, { "NFKC", UnicodeForm::Nfkc }, { "NFKD", UnicodeForm::Nfkd } };
    for (const auto& [name, form] : kForms) {
        if (type == name) {
            spec.normalizer.emplace_back(form);
            return {};
        }
    }
    if (type == "Prepend") {
        spec.normalizer.emplace_back(PrependText { textOr(step, "prepend", "") });
        return {};
    }
    const auto* from = stringOf(member(member(step, "pattern"), "String"));
    if (type == "Replace" && from != nullptr) {
        spec.normalizer.emplace_back(ReplaceText { *from, textOr(step, "content", "") });
        return {};
    }
    return refused("the normalizer " + type + " is not supported; supported are NFC, NFD, NFKC, NFKD, Prepend and Replace of a plain string");
}

Result<SplitStep> readSplit(const json& step)
{
    SplitStep split;
    constexpr std::pair<std::string_view, SplitBehaviour> kBehaviours[] = { { "Removed", SplitBehaviour::Removed },
        { "Isolated", SplitBehaviour::Isolated }, { "MergedWithPrevious", SplitBehaviour::MergedWithPrevious },
        { "MergedWithNext", SplitBehaviour::MergedWithNext }, { "Contiguous", SplitBehaviour::Contiguous } };
    const auto behaviour = textOr(step, "behavior", "");
    const auto* found = std::find_if(std::begin(kBehaviours), std::end(kBehaviours), [&](const auto& b) { return b.first == behaviour; });
    if (found == std::end(kBehaviours))
        return refused("the split behaviour \"" + behaviour + "\" is not known");
    split.behaviour = found->second;
    split.invert = boolOr(step, "invert", false);
    const auto& pattern = member(step, "pattern");
    const auto* literal = stringOf(member(pattern, "String"));
    if (literal != nullptr && !literal->empty()) {
        split.pattern = SplitPattern::Literal;
        split.literal = *literal;
        return split;
    }
    const auto* expression = literal != nullptr ? literal : stringOf(member(pattern, "Regex"));
    if (expression == nullptr)
        return refused("a Split has no pattern");
    split.pattern = knownPattern(*expression);
    if (split.pattern == SplitPattern::Regex) { // also of "", which matches at every place
        auto regex = Regex::compile(*expression);
        if (!regex.ok())
            return regex.error();
        split.regex = regex.value();
    }
    return split;
}

MetaspaceStep readMetaspace(const json& step)
{
    MetaspaceStep metaspace;
    metaspace.replacement = textOr(step, "replacement", metaspace.replacement);
    const auto scheme = textOr(step, "prepend_scheme", boolOr(step, "add_prefix_space", true) ? "always" : "never");
    metaspace.prepend = scheme == "never" ? PrependScheme::Never : scheme == "first" ? PrependScheme::First : PrependScheme::Always;
    metaspace.split = boolOr(step, "split", true);
    return metaspace;
}

Status readPreTokenizer(const json& step, BpeSpec& spec)
{
    const auto type = textOr(step, "type", "");
    const bool afterBytes = !spec.preTokenizer.empty() && std::holds_alternative<ByteLevelStep>(spec.preTokenizer.back());
    if (afterBytes)
        return refused("a pre-tokenizer " + type + " behind ByteLevel is not supported");
    if (type == "ByteLevel") {
        spec.preTokenizer.emplace_back(ByteLevelStep { boolOr(step, "add_prefix_space", true), boolOr(step, "use_regex", true) });
        return {};
    }
    if (type == "Digits") {
        spec.preTokenizer.emplace_back(DigitsStep { boolOr(step, "individual_digits", false) });
        return {};
    }
    if (type == "Metaspace") {
        spec.preTokenizer.emplace_back(readMetaspace(step));
        return {};
    }
    if (type != "Split")
        return refused("the pre-tokenizer " + type + " is not supported; supported are ByteLevel, Split, Digits, Metaspace and Sequence");
    auto split = readSplit(step);
    if (!split.ok())
        return split.error();
    const auto* expression = stringOf(member(member(step, "pattern"), "Regex"));
    if (split.value().pattern == SplitPattern::Regex && expression != nullptr && *expression != kO200kPattern)
        spec.settings += "\nOniguruma"; // another engine gave other ids; of this pattern it gave the same
    spec.preTokenizer.emplace_back(std::move(split).value());
    return {};
}

Status readSteps(const json& root, BpeSpec& spec)
{
    std::vector<const json*> steps;
    if (const auto& normalizer = member(root, "normalizer"); !normalizer.is_null()) {
        if (const auto status = flatten(normalizer, "normalizers", steps); !status.ok())
            return status;
        spec.settings += "\nnormalizer " + shown(normalizer);
    }
    for (const auto* step : steps) {
        if (const auto status = readNormalizer(*step, spec); !status.ok())
            return status;
    }
    steps.clear();
    if (const auto& preTokenizer = member(root, "pre_tokenizer"); !preTokenizer.is_null()) {
        if (const auto status = flatten(preTokenizer, "pretokenizers", steps); !status.ok())
            return status;
        spec.settings += "\npre_tokenizer " + shown(preTokenizer);
    }
    for (const auto* step : steps) {
        if (const auto status = readPreTokenizer(*step, spec); !status.ok())
            return status;
    }
    return {};
}

/// "<0x0A>" -> 10, else -1.
int fallbackByte(std::string_view token)
{
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>')
        return -1;
    int value = 0;
    for (const char c : token.substr(3, 2)) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'A' && c <= 'F'))
            return -1;
        value = value * 16 + (digit ? c - '0' : c - 'A' + 10);
    }
    return value;
}

Status readVocabulary(const json& model, bool byteFallback, BpeSpec& spec, BytesMap& entries)
{
    const auto& vocabulary = member(model, "vocab");
    if (!vocabulary.is_object())
        return refused("model.vocab is missing or no object");
    auto& out = spec.model;
    for (const auto& [token, value] : vocabulary.get_ref<const json::object_t&>()) {
        const auto number = numberOf(value, kMaxTokenId);
        if (!number)
            return refused("model.vocab: the id of \"" + token + "\" is no number from 0 to " + std::to_string(kMaxTokenId));
        const auto id = *number;
        if (id < out.tokens.size() && out.tokens[id].known)
            return refused("model.vocab: two tokens have the id " + std::to_string(id));
        auto bytes = out.byteLevel ? bytesOfAlphabet(token) : std::string(token);
        const int byte = out.byteLevel ? (bytes && bytes->size() == 1 ? static_cast<std::uint8_t>((*bytes)[0]) : -1)
            : byteFallback             ? fallbackByte(token)
                                       : -1;
        if (byte >= 0)
            out.byteIds[static_cast<std::size_t>(byte)] = static_cast<TokenId>(id);
        const bool matchable = bytes.has_value();
        if (!out.byteLevel && byte >= 0)
            bytes = std::string(1, static_cast<char>(byte)); // decodes to the byte, encoded only as a fallback
        if (const auto status = out.add(static_cast<TokenId>(id), bytes ? *bytes : std::string(token), matchable && (out.byteLevel || byte < 0)); !status.ok())
            return status;
        entries.insert(token, static_cast<std::uint32_t>(id));
    }
    return {};
}

Status readMerge(const json& merge, std::string_view& left, std::string_view& right)
{
    if (const auto* text = stringOf(merge)) {
        const std::string_view both = *text;
        const auto space = both.find(' ');
        if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
            return refused("model.merges: \"" + std::string(both) + "\" is no pair");
        left = both.substr(0, space);
        right = both.substr(space + 1);
        return {};
    }
    const bool isPair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!isPair)
        return refused("model.merges: an entry is no pair");
    left = *stringOf(merge[0]);
    right = *stringOf(merge[1]);
    return {};
}

Status readMerges(const json& model, BpeSpec& spec, const BytesMap& entries)
{
    const auto& merges = member(model, "merges");
    if (!merges.is_array())
        return refused("model.merges is missing or no list");
    spec.model.merges = MergeTable(merges.size());
    std::uint32_t rank = 0;
    std::string joined;
    for (const auto& merge : merges) {
        std::string_view left;
        std::string_view right;
        if (const auto status = readMerge(merge, left, right); !status.ok())
            return status;
        joined.assign(left).append(right);
        const auto ids = { entries.find(left), entries.find(right), entries.find(joined) };
        if (std::find(ids.begin(), ids.end(), BytesMap::kNone) != ids.end())
            return refused("model.merges: \"" + std::string(left) + "\" + \"" + std::string(right) + "\" or its parts are not in the vocabulary");
        spec.model.merges.add(ids.begin()[0], ids.begin()[1], rank++, ids.begin()[2]);
        spec.settings.append("\n").append(std::to_string(ids.begin()[0])).append(" ").append(std::to_string(ids.begin()[1]));
    }
    return {};
}

Status readModel(const json& root, BpeSpec& spec, BytesMap& entries)
{
    const auto& model = member(root, "model");
    if (!model.is_object())
        return refused("it has no model");
    const auto type = textOr(model, "type", "BPE");
    if (type != "BPE")
        return refused("its model type is " + type + ", supported is BPE (for sentencepiece use the .model file)");
    const auto& dropout = member(model, "dropout");
    if (dropout.is_number() && dropout.get<double>() != 0)
        return refused("it has dropout, which makes ids random");
    for (const char* key : { "continuing_subword_prefix", "end_of_word_suffix" }) {
        if (!textOr(model, key, "").empty())
            return refused(std::string(key) + " is not supported");
    }
    spec.model.wholeFirst = boolOr(model, "ignore_merges", false);
    spec.model.fuseUnknown = boolOr(model, "fuse_unk", false);
    const bool byteFallback = boolOr(model, "byte_fallback", false);
    spec.settings += "\nmodel " + std::to_string(spec.model.wholeFirst) + std::to_string(spec.model.fuseUnknown) + std::to_string(byteFallback);
    if (const auto status = readVocabulary(model, byteFallback, spec, entries); !status.ok())
        return status;
    if (const auto unknown = textOr(model, "unk_token", ""); !unknown.empty()) {
        if (const auto id = entries.find(unknown); id != BytesMap::kNone)
            spec.model.unknown = id;
        spec.settings += "\nunknown " + unknown;
    }
    return readMerges(model, spec, entries);
}

Status readAddedTokens(const json& root, BpeSpec& spec)
{
    const auto& added = member(root, "added_tokens");
    if (!added.is_array())
        return {};
    for (const auto& entry : added) {
        const auto id = numberOf(member(entry, "id"), kMaxTokenId);
        if (!id)
            return refused("added_tokens: an entry has no id from 0 to " + std::to_string(kMaxTokenId));
        AddedToken token { static_cast<TokenId>(*id), textOr(entry, "content", "") };
        token.special = boolOr(entry, "special", false);
        token.singleWord = boolOr(entry, "single_word", false);
        token.stripLeft = boolOr(entry, "lstrip", false);
        token.stripRight = boolOr(entry, "rstrip", false);
        token.normalized = boolOr(entry, "normalized", !token.special);
        if (const auto status = spec.model.add(token.id, token.content, false); !status.ok())
            return status;
        spec.settings += "\nadded " + shown(entry);
        spec.addedTokens.push_back(std::move(token));
    }
    return {};
}

/// What a vocabulary of text pieces writes instead of a space, and whether the encoder put one in front.
Status readDecoder(const json& root, BpeSpec& spec)
{
    std::vector<const json*> steps;
    if (const auto& decoder = member(root, "decoder"); !decoder.is_null()) {
        if (const auto status = flatten(decoder, "decoders", steps); !status.ok())
            return status;
    }
    for (const auto* pointer : steps) {
        const json& step = *pointer;
        const auto type = textOr(step, "type", "");
        if (type == "Metaspace") {
            const auto metaspace = readMetaspace(step);
            spec.spaceText = metaspace.replacement;
            spec.stripLeadingSpace = metaspace.prepend != PrependScheme::Never;
        }
        const auto* from = stringOf(member(member(step, "pattern"), "String"));
        if (type == "Replace" && from != nullptr && textOr(step, "content", "") == " ")
            spec.spaceText = *from;
        if (type == "Strip" && textOr(step, "content", "") == " ")
            spec.stripLeadingSpace = numberOf(member(step, "start"), UINT64_MAX).value_or(0) > 0;
    }
    return {};
}

bool isByteLevel(const BpeSpec& spec)
{
    return !spec.preTokenizer.empty() && std::holds_alternative<ByteLevelStep>(spec.preTokenizer.back());
}

} // namespace

Result<BpeSpec> readTokenizerJson(std::string_view text)
{
    // Nothing that decides ids lies deeper; a file made to exhaust memory or stack does.
    const auto isShallow = [](int depth, json::parse_event_t, const json&) { return depth <= kMaxDepth; };
    if (text.size() > kMaxJsonBytes)
        return refused("it is larger than 64 MiB");
    const json root = json::parse(text, isShallow, false);
    if (root.is_discarded())
        return Error { ErrorCode::Corrupt, "it is no valid JSON" };
    if (!root.is_object())
        return refused("it is no JSON object");
    BpeSpec spec;
    spec.definition = text;
    spec.settings = "tokenizer.json";
    if (const auto status = readSteps(root, spec); !status.ok())
        return status.error();
    spec.model.byteLevel = isByteLevel(spec);
    BytesMap entries;
    if (const auto status = readModel(root, spec, entries); !status.ok())
        return status.error();
    if (const auto status = readAddedTokens(root, spec); !status.ok())
        return status.error();
    if (!spec.model.byteLevel) {
        if (const auto status = readDecoder(root, spec); !status.ok())
            return status.error();
    }
    return spec;
}

} // namespace furrow
