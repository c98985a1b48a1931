#include "core/data/tokenizer/bpe_model.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/byte_alphabet.h"
#include "core/data/tokenizer/json_steps.h"
#include "core/data/tokenizer/unigram_model.h"
#include "core/data/tokenizer/word_models.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::size_t kMaxTreeBytes = 16u << 20;
constexpr std::size_t kMaxTokenBytes = 4096; ///< of models that look for the longest or best token from every place

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

/// Calls `add(text, id)` for each entry of an object of texts and ids.
template <typename Add> Status readEntries(const Json& model, PieceModel& out, BytesMap& entries, Add add)
{
    const auto& vocabulary = member(model, "vocab");
    if (!vocabulary.is_object())
        return refused(sentence("model.vocab is missing or not an object"));
    for (const auto& [token, value] : vocabulary.get_ref<const Json::object_t&>()) {
        const auto number = numberOf(value, kMaxTokenId);
        if (!number)
            return refused(sentence(
                "model.vocab: the id of \"%1\" is not a number from 0 to %2", { token, std::to_string(kMaxTokenId) }));
        const auto id = static_cast<TokenId>(*number);
        if (id < out.tokens.size() && out.tokens[id].known)
            return refused(sentence("model.vocab: two tokens have the id %1", { std::to_string(id) }));
        FURROW_TRY(add(token, id));
        entries.insert(token, id);
    }
    return {};
}

Status addBpeToken(BpeModel& out, bool byteFallback, const std::string& token, TokenId id)
{
    auto bytes = out.byteLevel ? bytesOfAlphabet(token) : std::string(token);
    const int byte = out.byteLevel ? (bytes && bytes->size() == 1 ? static_cast<std::uint8_t>((*bytes)[0]) : -1)
        : byteFallback             ? fallbackByte(token)
                                   : -1;
    if (byte >= 0)
        out.byteIds[static_cast<std::size_t>(byte)] = id;
    const bool matchable = bytes.has_value();
    if (!out.byteLevel && byte >= 0)
        bytes = std::string(1, static_cast<char>(byte)); // decodes to the byte, encoded only as a fallback
    return out.add(id, bytes ? *bytes : token, matchable && (out.byteLevel || byte < 0));
}

Status readMerge(const Json& merge, std::string_view& left, std::string_view& right)
{
    if (const auto* text = stringOf(merge)) {
        const std::string_view both = *text;
        const auto space = both.find(' ');
        if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
            return refused(sentence("model.merges: \"%1\" is not a pair", { both }));
        left = both.substr(0, space);
        right = both.substr(space + 1);
        return {};
    }
    const bool isPair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!isPair)
        return refused(sentence("model.merges: an entry is not a pair"));
    left = *stringOf(merge[0]);
    right = *stringOf(merge[1]);
    return {};
}

Status readMerges(const Json& json, BpeModel& model, std::string& settings, const BytesMap& entries)
{
    const auto& merges = member(json, "merges");
    if (!merges.is_array())
        return refused(sentence("model.merges is missing or not a list"));
    model.merges = MergeTable(merges.size());
    std::uint32_t rank = 0;
    std::string joined;
    for (const auto& merge : merges) {
        std::string_view left;
        std::string_view right;
        FURROW_TRY(readMerge(merge, left, right));
        if (right.size() < model.continuingPrefix.size())
            return refused(
                sentence("model.merges: \"%1\" is shorter than the prefix of what continues a word", { right }));
        joined.assign(left).append(right.substr(model.continuingPrefix.size()));
        const auto ids = { entries.find(left), entries.find(right), entries.find(joined) };
        if (std::find(ids.begin(), ids.end(), BytesMap::kNone) != ids.end())
            return refused(
                sentence("model.merges: \"%1\" + \"%2\" or its parts are not in the vocabulary", { left, right }));
        model.merges.add(ids.begin()[0], ids.begin()[1], rank++, ids.begin()[2]);
        settings.append("\n").append(std::to_string(ids.begin()[0])).append(" ").append(std::to_string(ids.begin()[1]));
    }
    return {};
}

Result<std::shared_ptr<PieceModel>> readBpe(const Json& json, bool byteLevel, std::string& settings, BytesMap& entries)
{
    auto model = std::make_shared<BpeModel>();
    const auto& dropout = member(json, "dropout");
    if (dropout.is_number() && dropout.get<double>() != 0)
        return refused(sentence("it has dropout, which makes ids random"));
    model->byteLevel = byteLevel;
    model->wholeFirst = boolOr(json, "ignore_merges", false);
    model->fuseUnknown = boolOr(json, "fuse_unk", false);
    model->continuingPrefix = textOr(json, "continuing_subword_prefix", "");
    model->endSuffix = textOr(json, "end_of_word_suffix", "");
    const bool byteFallback = boolOr(json, "byte_fallback", false);
    settings += "\nmodel " + std::to_string(model->wholeFirst) + std::to_string(model->fuseUnknown)
        + std::to_string(byteFallback);
    if (!model->continuingPrefix.empty() || !model->endSuffix.empty())
        settings += "\naffixes " + shown({ model->continuingPrefix, model->endSuffix });
    FURROW_TRY(readEntries(json, *model, entries,
        [&](const std::string& token, TokenId id) { return addBpeToken(*model, byteFallback, token, id); }));
    if (const auto unknown = textOr(json, "unk_token", ""); !unknown.empty()) {
        if (const auto id = entries.find(unknown); id != BytesMap::kNone)
            model->unknown = id;
        else
            model->missingUnknown = unknown;
        settings += "\nunknown " + unknown;
    }
    FURROW_TRY(readMerges(json, *model, settings, entries));
    return std::shared_ptr<PieceModel>(std::move(model));
}

/// What bounds the time that one place of a text takes, and the memory of the tree.
Status checkTree(const PieceModel& model)
{
    if (model.arena.size() > kMaxTreeBytes)
        return refused(sentence("the texts of its vocabulary are longer than 16 MiB together"));
    for (const auto& token : model.tokens) {
        if (token.size > kMaxTokenBytes)
            return refused(sentence("a token of its vocabulary is longer than 4096 bytes"));
    }
    return {};
}

template <typename Model>
Status readWords(const Json& json, const SpecialTexts& special, Model& model, std::string& settings, BytesMap& entries)
{
    model.unknownName = textOr(json, "unk_token", model.unknownName);
    settings += "\nunknown " + model.unknownName;
    FURROW_TRY(readEntries(json, model, entries,
        [&](const std::string& token, TokenId id) { return model.add(id, token, !special.contains(token)); }));
    if (const auto id = entries.find(model.unknownName); id != BytesMap::kNone)
        model.unknown = id;
    return checkTree(model);
}

Result<std::shared_ptr<PieceModel>> readWordPiece(
    const Json& json, const SpecialTexts& special, std::string& settings, BytesMap& entries)
{
    auto model = std::make_shared<WordPieceModel>();
    model->continuingPrefix = textOr(json, "continuing_subword_prefix", "##");
    if (const auto& longest = member(json, "max_input_chars_per_word"); !longest.is_null()) {
        const auto number = numberOf(longest, UINT64_MAX);
        if (!number)
            return refused(sentence("model.max_input_chars_per_word is not a number"));
        model->longestWord = *number;
    }
    settings += "\nWordPiece " + std::to_string(model->longestWord) + " " + model->continuingPrefix;
    FURROW_TRY(readWords(json, special, *model, settings, entries));
    model->finish();
    return std::shared_ptr<PieceModel>(std::move(model));
}

Result<std::shared_ptr<PieceModel>> readWordLevel(
    const Json& json, const SpecialTexts& special, std::string& settings, BytesMap& entries)
{
    auto model = std::make_shared<WordLevelModel>();
    settings += "\nWordLevel";
    FURROW_TRY(readWords(json, special, *model, settings, entries));
    return std::shared_ptr<PieceModel>(std::move(model));
}

Result<std::shared_ptr<PieceModel>> readUnigram(
    const Json& json, const SpecialTexts& special, std::string& settings, BytesMap& entries)
{
    auto model = std::make_shared<UnigramModel>();
    const auto& vocabulary = member(json, "vocab");
    if (!vocabulary.is_array())
        return refused(sentence("model.vocab is missing or not a list"));
    model->byteFallback = boolOr(json, "byte_fallback", false);
    settings += "\nUnigram " + std::to_string(model->byteFallback);
    for (const auto& entry : vocabulary) {
        const bool good = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number()
            && std::isfinite(entry[1].get<double>());
        const auto id = static_cast<TokenId>(model->scores.size());
        if (!good)
            return refused(sentence("model.vocab: entry %1 is not a token with its score", { std::to_string(id) }));
        const auto& token = *stringOf(entry[0]);
        if (!entries.insert(token, id))
            return refused(sentence("model.vocab: \"%1\" is there twice", { token }));
        FURROW_TRY(model->add(id, token, fallbackByte(token) >= 0 || !special.contains(token)));
        model->scores.push_back(entry[1].get<double>());
        settings += "\n" + shown(entry[1]);
    }
    if (const auto& unknown = member(json, "unk_id"); !unknown.is_null()) {
        const auto id = numberOf(unknown, kMaxTokenId);
        if (!id || *id >= model->scores.size())
            return refused(sentence("model.unk_id is not an id of the vocabulary"));
        model->unknown = static_cast<TokenId>(*id);
        settings += "\nunknown " + std::to_string(*id);
    }
    FURROW_TRY(checkTree(*model));
    model->finish();
    return std::shared_ptr<PieceModel>(std::move(model));
}

} // namespace

Result<std::shared_ptr<PieceModel>> readModel(
    const Json& model, bool byteLevel, const SpecialTexts& special, std::string& settings, BytesMap& entries)
{
    const auto type = textOr(model, "type", "BPE");
    if (type == "BPE")
        return readBpe(model, byteLevel, settings, entries);
    if (type == "WordPiece")
        return readWordPiece(model, special, settings, entries);
    if (type == "WordLevel")
        return readWordLevel(model, special, settings, entries);
    if (type == "Unigram")
        return readUnigram(model, special, settings, entries);
    return refused(sentence("its model type is %1, supported are BPE, WordPiece, WordLevel and Unigram", { type }));
}

} // namespace furrow
