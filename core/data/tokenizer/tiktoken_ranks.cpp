#include "core/data/tokenizer/base64.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/bpe_model.h"
#include "core/data/tokenizer/pipeline_tokenizer.h"

#include <array>
#include <charconv>

namespace furrow {

namespace {

/// What the file itself does not say, from the published definitions of tiktoken 0.14 and of Qwen.
struct Family {
    std::size_t numRanks;
    SplitPattern pattern;
    std::string_view regex; ///< for SplitPattern::Regex
    std::initializer_list<std::pair<const char*, TokenId>> special;
};

const std::array<Family, 5>& families()
{
    static const std::array<Family, 5> known { {
        { 50256, SplitPattern::Gpt2, "", { { "<|endoftext|>", 50256 } } },
        { 50280, SplitPattern::Gpt2, "", { { "<|endoftext|>", 50256 } } },
        { 100256, SplitPattern::Cl100kWholeTail, "",
            { { "<|endoftext|>", 100257 }, { "<|fim_prefix|>", 100258 }, { "<|fim_middle|>", 100259 },
                { "<|fim_suffix|>", 100260 }, { "<|endofprompt|>", 100276 } } },
        { 199998, SplitPattern::Regex, kO200kPattern, { { "<|endoftext|>", 199999 }, { "<|endofprompt|>", 200018 } } },
        { 151643, SplitPattern::Qwen2, "",
            { { "<|endoftext|>", 151643 }, { "<|im_start|>", 151644 }, { "<|im_end|>", 151645 } } },
    } };
    return known;
}

struct Ranked {
    std::string bytes;
    TokenId rank = 0;
};

std::optional<Ranked> parseLine(std::string_view line)
{
    const auto space = line.find(' ');
    if (space == std::string_view::npos || space == 0)
        return {};
    auto bytes = fromBase64(line.substr(0, space));
    Ranked ranked;
    const auto digits = line.substr(space + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ranked.rank);
    if (!bytes || bytes->empty() || error != std::errc {} || end != digits.data() + digits.size())
        return {};
    ranked.bytes = std::move(*bytes);
    return ranked;
}

/// Two neighbours merge when their bytes together have a rank, so every split of every token is a merge.
void addMerges(BpeModel& model)
{
    for (TokenId id = 0; id < model.tokens.size(); ++id) {
        const auto bytes = model.bytesOf(id);
        for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
            const auto left = model.ids.find(bytes.substr(0, cut));
            const auto right = model.ids.find(bytes.substr(cut));
            if (left != BytesMap::kNone && right != BytesMap::kNone)
                model.merges.add(left, right, id, id);
        }
    }
}

} // namespace

Result<TokenizerSpec> readTiktokenRanks(std::string_view text)
{
    TokenizerSpec spec;
    spec.definition = text;
    auto made = std::make_shared<BpeModel>();
    auto& model = *made;
    model.wholeFirst = true;
    std::size_t lines = 0;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            continue;
        ++lines;
        const auto ranked = parseLine(line);
        if (!ranked || (ranked->rank < model.tokens.size() && model.tokens[ranked->rank].known))
            return Error { ErrorCode::Corrupt,
                sentence("line %1 is not a new \"base64 rank\" of a tiktoken file", { std::to_string(lines) }) };
        FURROW_TRY(model.add(ranked->rank, ranked->bytes, true));
        if (ranked->bytes.size() == 1)
            model.byteIds[static_cast<std::uint8_t>(ranked->bytes[0])] = ranked->rank;
    }
    for (const auto& family : families()) {
        if (family.numRanks != lines)
            continue;
        SplitStep split;
        split.pattern = family.pattern;
        if (!family.regex.empty()) {
            FURROW_TRY_ASSIGN(auto regex, Regex::compile(std::string(family.regex)));
            split.regex = regex;
        }
        spec.preTokenizer.emplace_back(split);
        spec.settings = "tiktoken";
        addMerges(model);
        spec.model = std::move(made);
        spec.byteLevel = true;
        for (const auto& [content, id] : family.special) {
            FURROW_TRY(model.add(id, content, false));
            spec.addedTokens.push_back({ id, content, true });
        }
        return spec;
    }
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "a tiktoken file with %1 ranks is of no known family (GPT-2, cl100k, o200k, Qwen); use its tokenizer.json",
            { Count(static_cast<std::int64_t>(lines)) }) };
}

} // namespace furrow
