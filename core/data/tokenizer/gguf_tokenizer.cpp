// A vocabulary of a GGUF as the files that other programs, and ours, read.

#include "core/data/tokenizer/gguf_tokenizer.h"

#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/gguf_pieces.h"
#include "core/data/tokenizer/gguf_splits.h"
#include "core/model/gguf/gguf_chat.h"

#include <algorithm>
#include <optional>
#include <set>

namespace furrow {

namespace {

using Ordered = nlohmann::ordered_json;
using Json = nlohmann::json;

const std::string kPrefix = "tokenizer.ggml.";

Error unusable(const Message& message) { return { ErrorCode::InvalidArgument, Message(kPrefix) + message }; }

const Json& value(const GgufFile& file, const char* key)
{
    static const Json nothing;
    const auto found = file.metadata.find(kPrefix + key);
    return found == file.metadata.end() ? nothing : *found;
}

/// The vocabulary with the texts, kinds and scores checked to be lists of one length.
Result<PieceList> readVocabulary(const GgufFile& file)
{
    const Json& tokens = value(file, "tokens");
    const Json& kinds = value(file, "token_type");
    const Json& scores = value(file, "scores");
    if (!tokens.is_array() || tokens.empty() || !tokens.front().is_string())
        return unusable(sentence("tokens is not a list of texts"));
    if (kinds.is_array() ? kinds.size() != tokens.size() || !kinds.front().is_number_integer() : !kinds.is_null())
        return unusable(sentence("token_type is not a list with a number for each token"));
    if (scores.is_array() ? scores.size() != tokens.size() || !scores.front().is_number() : !scores.is_null())
        return unusable(sentence("scores is not a list with a number for each token"));
    PieceList list;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        PieceList::Piece piece { tokens[i].get<std::string>() };
        const std::int64_t kind = kinds.is_array() ? kinds[i].get<std::int64_t>() : 1;
        if (kind < 1 || kind > 6)
            return unusable(sentence("token_type has the unknown kind %1", { std::to_string(kind) }));
        piece.kind = static_cast<PieceKind>(kind);
        piece.score = scores.is_array() ? scores[i].get<float>() : 0;
        list.pieces.push_back(std::move(piece));
    }
    return list;
}

bool isAdded(PieceKind kind) { return kind == PieceKind::Control || kind == PieceKind::UserDefined; }

/// Added tokens at the end of the ids get them from their place; others must be in the vocabulary.
std::size_t endOfVocabulary(const PieceList& list)
{
    const auto isOther = [](const auto& piece) { return !isAdded(piece.kind); };
    const auto last = std::find_if(list.pieces.rbegin(), list.pieces.rend(), isOther);
    return static_cast<std::size_t>(list.pieces.rend() - last);
}

Result<Ordered> vocabularyJson(const PieceList& list)
{
    Ordered vocabulary = Ordered::object();
    std::set<std::string_view> seen;
    const std::size_t end = endOfVocabulary(list);
    for (std::size_t id = 0; id < list.pieces.size(); ++id) {
        const auto& piece = list.pieces[id];
        if (piece.kind == PieceKind::Unused)
            continue;
        if (!seen.insert(piece.text).second)
            return unusable(sentence("tokens has '%1' twice", { plainLine(piece.text, 60) }));
        if (id < end)
            vocabulary.push_back({ piece.text, id });
    }
    return vocabulary;
}

Ordered addedJson(const PieceList& list)
{
    Ordered added = Ordered::array();
    for (std::size_t id = 0; id < list.pieces.size(); ++id)
        if (isAdded(list.pieces[id].kind))
            added.push_back({ { "id", id }, { "content", list.pieces[id].text }, { "single_word", false },
                { "lstrip", false }, { "rstrip", false }, { "normalized", false },
                { "special", list.pieces[id].kind == PieceKind::Control } });
    return added;
}

/// What transformers puts in front of each text.
Ordered postProcessor(const GgufFile& file)
{
    const std::string begin = file.token("tokenizer.ggml.bos_token_id");
    const Json& adds = value(file, "add_bos_token");
    if (begin.empty() || !adds.is_boolean() || !adds.get<bool>())
        return nullptr;
    const Ordered first = { { "SpecialToken", { { "id", begin }, { "type_id", 0 } } } };
    const auto text = [](const char* name, int type) {
        return Ordered { { "Sequence", { { "id", name }, { "type_id", type } } } };
    };
    const Ordered special
        = { { "id", begin }, { "ids", Ordered::array({ value(file, "bos_token_id") }) }, { "tokens", { begin } } };
    return { { "type", "TemplateProcessing" }, { "single", { first, text("A", 0) } },
        { "pair", { first, text("A", 0), text("B", 1) } }, { "special_tokens", { { begin, special } } } };
}

Result<std::string> tokenizerJson(const GgufFile& file, const PieceList& list)
{
    const std::string pre = file.text("tokenizer.ggml.pre");
    const GgufSplit* split = findGgufSplit(pre);
    if (!split)
        return unusable(sentence("pre is '%1', a way to split text that is not known here; known are %2",
            { plainLine(pre, 40), ggufSplitList() }));
    const Json& merges = value(file, "merges");
    if (!merges.is_array() || (!merges.empty() && !merges.front().is_string()))
        return unusable(sentence("merges is not a list of texts"));
    FURROW_TRY_ASSIGN(auto vocabulary, vocabularyJson(list));
    Ordered json = { { "version", "1.0" }, { "truncation", nullptr }, { "padding", nullptr },
        { "added_tokens", addedJson(list) }, { "normalizer", Ordered::parse(split->normalizer) },
        { "pre_tokenizer", Ordered::parse(split->preTokenizer) }, { "post_processor", postProcessor(file) },
        { "decoder", Ordered::parse(kByteLevelDecoder) } };
    json["model"] = { { "type", "BPE" }, { "dropout", nullptr }, { "unk_token", nullptr },
        { "continuing_subword_prefix", nullptr }, { "end_of_word_suffix", nullptr }, { "fuse_unk", false },
        { "byte_fallback", false }, { "ignore_merges", split->ignoresMerges }, { "vocab", std::move(vocabulary) },
        { "merges", merges } };
    return json.dump(1);
}

std::string pieceModel(const GgufFile& file, PieceList list)
{
    const auto flag = [&file](const char* key, bool otherwise) {
        const Json& given = value(file, key);
        return given.is_boolean() ? given.get<bool>() : otherwise;
    };
    list.unknown = file.token("tokenizer.ggml.unknown_token_id");
    for (const auto& piece : list.pieces)
        if (list.unknown.empty() && piece.kind == PieceKind::Unknown)
            list.unknown = piece.text;
    list.begin = file.token("tokenizer.ggml.bos_token_id");
    list.end = file.token("tokenizer.ggml.eos_token_id");
    list.padding = file.token("tokenizer.ggml.padding_token_id");
    list.addsSpace = flag("add_space_prefix", true);
    list.removesSpaces = flag("remove_extra_whitespaces", false);
    return sentencepieceModel(list);
}

std::string configJson(const GgufFile& file, const char* className)
{
    Ordered json = { { "tokenizer_class", className }, { "clean_up_tokenization_spaces", false } };
    json.update(ggufChatConfig(file));
    for (const char* key : { "add_bos_token", "add_eos_token" })
        if (value(file, key).is_boolean())
            json[key] = value(file, key);
    const std::string architecture = file.text("general.architecture");
    if (const auto context = file.metadata.find(architecture + ".context_length");
        context != file.metadata.end() && context->is_number_unsigned())
        json["model_max_length"] = *context;
    return json.dump(1);
}

} // namespace

Result<std::map<std::string, std::string>> ggufTokenizerFiles(const GgufFile& file)
{
    const std::string model = file.text("tokenizer.ggml.model");
    if (model != "gpt2" && model != "llama")
        return unusable(
            sentence("model is '%1', which is not known here; known are gpt2, llama", { plainLine(model, 40) }));
    FURROW_TRY_ASSIGN(const auto list, readVocabulary(file));
    std::map<std::string, std::string> files;
    if (model == "gpt2") {
        FURROW_TRY_ASSIGN(files["tokenizer.json"], tokenizerJson(file, list));
        files["tokenizer_config.json"] = configJson(file, "PreTrainedTokenizerFast");
    } else {
        files["tokenizer.model"] = pieceModel(file, list);
        files["tokenizer_config.json"] = configJson(file, "LlamaTokenizer");
    }
    return files;
}

} // namespace furrow
