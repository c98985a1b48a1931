#include "core/data/tokenizer/decoder.h"

#include "core/data/tokenizer/byte_alphabet.h"

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

using Tokens = std::vector<std::string>;

void replaceAll(std::string& text, std::string_view from, std::string_view to)
{
    std::string out;
    std::size_t done = 0;
    for (auto at = from.empty() ? std::string::npos : text.find(from); at != std::string::npos;
        at = text.find(from, done)) {
        out.append(text, done, at - done).append(to);
        done = at + from.size();
    }
    text = out.append(text, done);
}

std::string joined(const Tokens& tokens, std::string_view between)
{
    std::string out;
    for (const auto& token : tokens) {
        if (&token != &tokens.front())
            out += between;
        out += token;
    }
    return out;
}

void apply(const ByteLevelDecoder&, Tokens& tokens)
{
    for (auto& token : tokens) {
        if (auto bytes = bytesOfAlphabet(token))
            token = std::move(*bytes);
    }
    tokens = { joined(tokens, "") };
}

void apply(const ReplaceDecoder& step, Tokens& tokens)
{
    for (auto& token : tokens) {
        if (!step.pattern) {
            replaceAll(token, step.from, step.to);
            continue;
        }
        std::string out;
        std::size_t done = 0;
        const auto status = step.pattern->forEachMatch(token, [&](std::size_t begin, std::size_t end) {
            out.append(token, done, begin - done).append(step.to);
            done = end;
        });
        if (status.ok()) // else the token is shown as it is
            token = out.append(token, done);
    }
}

void apply(const WordPieceDecoder& step, Tokens& tokens)
{
    constexpr std::pair<std::string_view, std::string_view> kCleanup[]
        = { { " .", "." }, { " ?", "?" }, { " !", "!" }, { " ,", "," }, { " ' ", "'" }, { " n't", "n't" },
              { " 'm", "'m" }, { " do not", " don't" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" } };
    for (auto& token : tokens) {
        if (&token != &tokens.front()) {
            if (token.starts_with(step.prefix))
                token.erase(0, step.prefix.size());
            else
                token.insert(token.begin(), ' ');
        }
        for (const auto& [from, to] : kCleanup) {
            if (step.cleanup)
                replaceAll(token, from, to);
        }
    }
}

void apply(const ByteFallbackDecoder&, Tokens& tokens)
{
    for (auto& token : tokens) {
        std::uint8_t byte = 0;
        const bool written = token.size() == 6 && token.starts_with("<0x") && token[5] == '>';
        if (written && std::from_chars(token.data() + 3, token.data() + 5, byte, 16).ptr == token.data() + 5)
            token.assign(1, static_cast<char>(byte));
    }
}

void apply(const FuseDecoder&, Tokens& tokens) { tokens = { joined(tokens, "") }; }

void apply(const StripDecoder& step, Tokens& tokens)
{
    for (auto& token : tokens) {
        for (std::size_t i = 0; i < step.start && !step.content.empty() && token.starts_with(step.content); ++i)
            token.erase(0, step.content.size());
        for (std::size_t i = 0; i < step.stop && !step.content.empty() && token.ends_with(step.content); ++i)
            token.erase(token.size() - step.content.size());
    }
}

void apply(const MetaspaceDecoder& step, Tokens& tokens)
{
    for (auto& token : tokens)
        replaceAll(token, step.replacement, step.dropsFirst && &token == &tokens.front() ? "" : " ");
}

void apply(const BpeSuffixDecoder& step, Tokens& tokens)
{
    for (auto& token : tokens)
        replaceAll(token, step.suffix, &token == &tokens.back() ? "" : " ");
}

} // namespace

std::string decodeTokens(const std::vector<DecoderStep>& steps, std::vector<std::string> tokens)
{
    for (const auto& step : steps)
        std::visit([&](const auto& s) { apply(s, tokens); }, step);
    return joined(tokens, steps.empty() ? " " : "");
}

} // namespace furrow
