// Files of a tokenizer as the metadata that llama.cpp reads.

#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/gguf_pieces.h"
#include "core/data/tokenizer/gguf_splits.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/data/tokenizer/json_access.h"

#include <algorithm>
#include <optional>

namespace furrow {

namespace {

using Files = std::map<std::string, std::string>;

Error noForm(const Message& why)
{
    return { ErrorCode::InvalidArgument,
        sentence("llama.cpp has no form for this tokenizer: %1. Export as huggingface.", { why }) };
}

Json parsed(const Files& files, const char* name)
{
    const auto found = files.find(name);
    Json json = found == files.end() ? Json() : Json::parse(found->second, nullptr, false);
    return json.is_object() ? json : Json::object();
}

/// A vocabulary with a place for each row of the embedding.
class Rows {
public:
    explicit Rows(std::int64_t rows)
    {
        list_.pieces.resize(static_cast<std::size_t>(rows));
        for (std::size_t id = 0; id < list_.pieces.size(); ++id)
            list_.pieces[id] = { "[PAD" + std::to_string(id) + "]", 0, PieceKind::Unused };
    }

    Status set(std::uint64_t id, PieceList::Piece piece)
    {
        if (id >= list_.pieces.size())
            return noForm(sentence("'%1' has the id %2, the model has %3 rows",
                { plainLine(piece.text, 60), std::to_string(id), std::to_string(list_.pieces.size()) }));
        list_.pieces[id] = std::move(piece);
        return {};
    }

    std::optional<std::size_t> idOf(const std::string& text) const
    {
        const auto found = std::find_if(
            list_.pieces.begin(), list_.pieces.end(), [&](const auto& piece) { return piece.text == text; });
        const bool isThere = !text.empty() && found != list_.pieces.end();
        return isThere ? std::optional(static_cast<std::size_t>(found - list_.pieces.begin())) : std::nullopt;
    }

    void putInto(Json& metadata, bool withScores) const
    {
        Json texts = Json::array(), kinds = Json::array(), scores = Json::array();
        for (const auto& piece : list_.pieces) {
            texts.push_back(piece.text);
            kinds.push_back(static_cast<int>(piece.kind));
            scores.push_back(piece.score);
        }
        metadata["tokenizer.ggml.tokens"] = std::move(texts);
        metadata["tokenizer.ggml.token_type"] = std::move(kinds);
        if (withScores)
            metadata["tokenizer.ggml.scores"] = std::move(scores);
    }

private:
    PieceList list_;
};

Status setAdded(const Json& entry, std::uint64_t id, Rows& rows)
{
    const auto kind = boolOr(entry, "special", false) ? PieceKind::Control : PieceKind::UserDefined;
    return rows.set(id, { textOr(entry, "content", ""), 0, kind });
}

Result<Json> mergesOf(const Json& model)
{
    Json merges = Json::array();
    for (const Json& one : member(model, "merges")) {
        if (one.is_string()) {
            merges.push_back(one);
            continue;
        }
        const bool isPair = one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string();
        const std::string text = isPair ? one[0].get<std::string>() + " " + one[1].get<std::string>() : "";
        if (std::count(text.begin(), text.end(), ' ') != 1)
            return noForm(sentence("a merge is not a pair of texts without spaces"));
        merges.push_back(text);
    }
    return merges;
}

bool isBytePair(const Json& tokenizer)
{
    const std::string text = member(tokenizer, "pre_tokenizer").dump();
    return textOr(member(tokenizer, "model"), "type", "BPE") == "BPE"
        && text.find("\"ByteLevel\"") != std::string::npos;
}

Status putBytePairs(const Json& tokenizer, Rows& rows, Json& metadata)
{
    const GgufSplit* split = ggufSplitOf(tokenizer);
    if (!split)
        return noForm(sentence("it splits text in none of the ways that are known here: %1", { ggufSplitList() }));
    const Json& model = member(tokenizer, "model");
    for (const auto& [text, id] : member(model, "vocab").items())
        if (const auto number = numberOf(id, UINT32_MAX))
            FURROW_TRY(rows.set(*number, { text, 0, PieceKind::Normal }));
    for (const Json& entry : member(tokenizer, "added_tokens"))
        if (const auto number = numberOf(member(entry, "id"), UINT32_MAX))
            FURROW_TRY(setAdded(entry, *number, rows));
    metadata["tokenizer.ggml.model"] = "gpt2";
    metadata["tokenizer.ggml.pre"] = split->name;
    FURROW_TRY_ASSIGN(metadata["tokenizer.ggml.merges"], mergesOf(model));
    rows.putInto(metadata, false);
    return {};
}

Status putPieces(const std::string& model, const Json& config, Rows& rows, Json& metadata)
{
    FURROW_TRY_ASSIGN(const auto list, readPieceList(model));
    if (!list.isBpe || !list.isPlain)
        return noForm(sentence("its sentencepiece model is not a byte-pair one, or changes characters first"));
    for (std::size_t id = 0; id < list.pieces.size(); ++id)
        FURROW_TRY(rows.set(id, list.pieces[id]));
    for (const auto& [key, entry] : member(config, "added_tokens_decoder").items()) {
        const auto id = std::strtoull(key.c_str(), nullptr, 10);
        if (id >= list.pieces.size())
            FURROW_TRY(setAdded(entry, id, rows));
    }
    metadata["tokenizer.ggml.model"] = "llama";
    metadata["tokenizer.ggml.pre"] = "default";
    metadata["tokenizer.ggml.add_space_prefix"] = list.addsSpace;
    metadata["tokenizer.ggml.remove_extra_whitespaces"] = list.removesSpaces;
    for (const auto& [key, text] :
        { std::pair("unknown", list.unknown), std::pair("bos", list.begin), std::pair("eos", list.end) })
        if (const auto id = rows.idOf(text))
            metadata["tokenizer.ggml." + std::string(key) + "_token_id"] = *id;
    rows.putInto(metadata, true);
    return {};
}

/// "bos_token" of a tokenizer_config.json: a text, or an object with one.
std::string named(const Json& config, const char* key)
{
    const Json& value = member(config, key);
    return value.is_object() ? textOr(value, "content", "") : textOr(config, key, "");
}

void putSpecial(const Json& config, const Rows& rows, std::int64_t bos, std::int64_t eos, Json& metadata)
{
    struct Special {
        const char* ours;
        const char* theirs;
        std::int64_t otherwise;
    };
    for (const auto& [ours, theirs, otherwise] :
        { Special { "bos_token", "bos", bos }, Special { "eos_token", "eos", eos },
            Special { "unk_token", "unknown", -1 }, Special { "pad_token", "padding", -1 } }) {
        const std::string key = "tokenizer.ggml." + std::string(theirs) + "_token_id";
        if (const auto id = rows.idOf(named(config, ours)))
            metadata[key] = *id;
        else if (otherwise >= 0 && !metadata.contains(key))
            metadata[key] = otherwise;
    }
}

/// Whether transformers puts the first token in front of each text: said, or done by tokenizer.json.
bool addsBegin(const Json& config, const Json& tokenizer)
{
    const Json& single = member(member(tokenizer, "post_processor"), "single");
    const bool isDone = single.is_array() && !single.empty() && single.front().contains("SpecialToken");
    return boolOr(config, "add_bos_token", isDone);
}

std::string chatTemplate(const Files& files, const Json& config)
{
    if (const auto file = files.find("chat_template.jinja"); file != files.end())
        return file->second;
    const Json& given = member(config, "chat_template");
    for (const Json& one : given.is_array() ? given : Json::array()) // several, each with a name
        if (textOr(one, "name", "") == "default")
            return textOr(one, "template", "");
    return textOr(config, "chat_template", "");
}

} // namespace

Result<nlohmann::json> ggufTokenizerMetadata(
    const std::map<std::string, std::string>& files, std::int64_t rows, std::int64_t bos, std::int64_t eos)
{
    Json metadata = Json::object();
    Rows vocabulary(rows);
    const Json tokenizer = parsed(files, "tokenizer.json");
    const Json config = parsed(files, "tokenizer_config.json");
    const auto model = files.find("tokenizer.model");
    if (isBytePair(tokenizer)) {
        FURROW_TRY(putBytePairs(tokenizer, vocabulary, metadata));
    } else if (model != files.end()) {
        FURROW_TRY(putPieces(model->second, config, vocabulary, metadata));
    } else {
        return noForm(
            sentence("it is neither byte-pair of bytes (tokenizer.json) nor of sentencepiece (tokenizer.model)"));
    }
    putSpecial(config, vocabulary, bos, eos, metadata);
    metadata["tokenizer.ggml.add_bos_token"] = addsBegin(config, tokenizer);
    if (member(config, "add_eos_token").is_boolean())
        metadata["tokenizer.ggml.add_eos_token"] = config["add_eos_token"];
    if (const std::string chat = chatTemplate(files, config); !chat.empty())
        metadata["tokenizer.chat_template"] = chat;
    return metadata;
}

} // namespace furrow
