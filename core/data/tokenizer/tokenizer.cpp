#include "core/data/tokenizer/tokenizer.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/resources.h"
#include "core/base/sentence.h"
#include "core/config/named_tokenizer.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/data/tokenizer/pipeline_tokenizer.h"
#include "core/data/tokenizer/simple_tokenizers.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxDefinitionBytes = 256u << 20;

/// "aGVsbG8= 12" and nothing else in the first line.
bool looksLikeTiktoken(std::string_view text)
{
    const auto line = text.substr(0, std::min(text.find('\n'), std::size_t { 4096 }));
    const auto space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 >= line.size())
        return false;
    const auto isWord = [](unsigned char c) { return c > ' ' && c < 0x7F; };
    return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(space), isWord)
        && line[space + 1] >= '0' && line[space + 1] <= '9';
}

Result<std::shared_ptr<const Tokenizer>> fromSpec(Result<TokenizerSpec> spec, const std::string& name)
{
    if (!spec.ok())
        return spec.error();
    return makePipelineTokenizer(std::move(spec).value(), name);
}

/// That of a GGUF, whose weights are not read.
Result<std::shared_ptr<const Tokenizer>> loadGguf(const std::filesystem::path& path, const std::string& name)
{
    FURROW_TRY_ASSIGN(const auto file, readGguf(path));
    auto files = ggufTokenizerFiles(file);
    if (!files.ok())
        return files.error().in(utf8Text(path));
    const bool isJson = files.value().contains("tokenizer.json");
    auto loaded = loadTokenizerDefinition(files.value()[isJson ? "tokenizer.json" : "tokenizer.model"], name);
    return loaded.ok() ? loaded : loaded.error().in(sentence("tokenizer %1", { utf8Text(path) }));
}

Result<std::shared_ptr<const Tokenizer>> loadFile(const std::filesystem::path& path, const std::string& name)
{
    if (isGguf(path))
        return loadGguf(path, name);
    auto bytes = readFile(path, kMaxDefinitionBytes);
    if (!bytes.ok())
        return bytes.error().in(sentence("tokenizer %1", { name }));
    auto loaded = loadTokenizerDefinition(bytes.value(), name);
    if (!loaded.ok())
        return loaded.error().in(sentence("tokenizer %1", { utf8Text(path) }));
    return loaded;
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> loadTokenizerDefinition(std::string_view definition, const std::string& name)
{
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    auto text = definition.starts_with(kByteOrderMark) ? definition.substr(kByteOrderMark.size()) : definition;
    while (!text.empty() && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r' || text[0] == '\n'))
        text.remove_prefix(1);
    if (text == "byte" || text == "byte\n")
        return byteTokenizer();
    if (isCharDefinition(text))
        return readCharTokenizer(text);
    if (text.starts_with('{'))
        return fromSpec(readTokenizerJson(text), name);
    if (looksLikeTiktoken(text))
        return fromSpec(readTiktokenRanks(text), name);
    return readSentencepiece(definition, name);
}

Result<std::shared_ptr<const Tokenizer>> loadTokenizer(const std::string& nameOrPath)
{
    const auto named = closedValue<NamedTokenizer>(nameOrPath);
    if (named == NamedTokenizer::Byte)
        return byteTokenizer();
    if (named == NamedTokenizer::Gpt2) {
        const auto path = resourcePath("tokenizers/gpt2/tokenizer.json");
        if (!path.ok())
            return path.error().in(sentence("tokenizer gpt2"));
        return loadFile(path.value(), nameOrPath);
    }
    if (named == NamedTokenizer::Char)
        return Error { ErrorCode::InvalidArgument,
            sentence("the tokenizer char is made from the data of a run; to load a saved one give char:PATH") };
    constexpr std::string_view kChar = "char:";
    const bool saved = nameOrPath.starts_with(kChar);
    const auto path = pathFromUtf8(saved ? nameOrPath.substr(kChar.size()) : nameOrPath);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return loadFile(path / "tokenizer.json", utf8Text(path.filename()));
    if (!saved && !std::filesystem::exists(path, ignored))
        return Error { ErrorCode::NotFound,
            sentence(
                "There is no tokenizer %1. Give byte, char, gpt2 or the path of a tokenizer.json or sentencepiece .model.",
                { nameOrPath }) };
    return loadFile(path, utf8Text(path.filename()));
}

} // namespace furrow
