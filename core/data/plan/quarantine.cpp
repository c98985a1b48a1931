#include "core/data/plan/quarantine.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/kept_text.h"
#include "core/data/tokenizer/pattern_answer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>
#include <charconv>
#include <pcre2.h>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxListBytes = 64ull << 20;
constexpr std::size_t kMaxPatterns = 1000;
constexpr std::uint32_t kMatchLimit = 1'000'000;

struct FreeCode {
    void operator()(pcre2_code* code) const noexcept { pcre2_code_free(code); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const noexcept { pcre2_match_context_free(context); }
};

template <typename T> bool parseNumber(std::string_view text, T& value, int base = 10)
{
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return failed == std::errc {} && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view line)
{
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
        line.remove_prefix(1);
    return line;
}

/// The list is kept in the run with its comments.
Status refuseSecretLines(std::string_view text, const std::string& path)
{
    const auto secrets = secretVariables();
    for (int number = 1; !text.empty(); ++number) {
        const auto line = text.substr(0, text.find('\n'));
        if (auto why = whyNotKept(line, sentence("Line %1 of %2", { std::to_string(number), path }), secrets);
            !why.empty())
            return Error { ErrorCode::InvalidArgument, std::move(why) };
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return {};
}

} // namespace

struct Quarantine::Pattern {
    std::unique_ptr<pcre2_code, FreeCode> code;
    std::unique_ptr<pcre2_match_context, FreeContext> context;
    std::string written;
    std::int32_t entry = 0; ///< its number

    Result<bool> matches(std::string_view text) const
    {
        const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
        const int answer = pcre2_match(
            code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, match.get(), context.get());
        if (answer >= 0 || answer == PCRE2_ERROR_NOMATCH)
            return answer >= 0;
        PCRE2_UCHAR why[200] = {};
        pcre2_get_error_message(answer, why, sizeof why);
        return noPatternAnswer(written, text.size(), reinterpret_cast<const char*>(why));
    }
};

Quarantine::Quarantine() = default;
Quarantine::~Quarantine() = default;

Result<std::shared_ptr<const Quarantine>> Quarantine::parse(std::string_view text)
{
    std::shared_ptr<Quarantine> list(new Quarantine);
    for (int number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty() || line.front() == '#')
            continue;
        if (auto status = list->add(line); !status.ok())
            return Error { status.error().code,
                sentence("Line %1 of the quarantine list, \"%2\", %3",
                    { std::to_string(number), line.substr(0, 80), status.error().message }) };
    }
    return std::shared_ptr<const Quarantine>(std::move(list));
}

Status Quarantine::add(std::string_view line)
{
    const auto space = line.find_first_of(" \t");
    const auto kind = line.substr(0, space);
    const auto rest = space == std::string_view::npos ? std::string_view() : trimmed(line.substr(space));
    const auto entry = static_cast<std::int32_t>(entries_.size());
    const auto refused = [](const Message& why) { return Error { ErrorCode::InvalidArgument, why }; };
    if (kind == "chunk") {
        const auto chunk = parseChunkName(rest);
        if (!chunk)
            return refused(sentence("names no chunk: write chunk BLOCK:COLUMN."));
        chunks_.push_back(*chunk);
        return {};
    }
    if (kind == "sample") {
        std::uint64_t fingerprint = 0;
        if (rest.size() != 16 || !parseNumber(rest, fingerprint, 16))
            return refused(sentence("names no sample: write sample and its fingerprint of 16 hex digits."));
        samples_.emplace(fingerprint, entry);
    } else if (kind == "pattern" && !rest.empty()) {
        if (patterns_.size() >= kMaxPatterns)
            return refused(sentence("is pattern number %1, more than a list may have. Join some with |.",
                { std::to_string(kMaxPatterns + 1) }));
        int code = 0;
        PCRE2_SIZE offset = 0;
        auto pattern = std::make_unique<Pattern>();
        pattern->written = rest;
        pattern->entry = entry;
        pattern->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rest.data()), rest.size(),
            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &offset, nullptr));
        if (!pattern->code) {
            PCRE2_UCHAR why[200] = {};
            pcre2_get_error_message(code, why, sizeof why);
            return refused(sentence("holds no regular expression (%1).", { reinterpret_cast<const char*>(why) }));
        }
        pcre2_jit_compile(pattern->code.get(), PCRE2_JIT_COMPLETE); // where it fails, matching is only slower
        pattern->context.reset(pcre2_match_context_create(nullptr));
        pcre2_set_match_limit(pattern->context.get(), kMatchLimit);
        patterns_.push_back(std::move(pattern));
    } else {
        return refused(sentence("begins with none of chunk, sample, pattern."));
    }
    entries_.push_back(std::string(kind).append(" ").append(rest));
    return {};
}

std::string Quarantine::sampleEntries() const
{
    std::string all;
    for (const std::string& entry : entries_)
        all.append(entry).append("\n");
    return all;
}

Result<bool> Quarantine::excludes(std::string_view text, std::uint64_t fingerprint) const
{
    if (samples_.contains(fingerprint))
        return true;
    for (const auto& pattern : patterns_)
        if (auto matches = pattern->matches(text); !matches.ok() || matches.value())
            return matches;
    return false;
}

std::vector<std::int32_t> Quarantine::matching(std::string_view text, std::uint64_t fingerprint) const
{
    std::vector<std::int32_t> entries;
    const auto [first, last] = samples_.equal_range(fingerprint);
    for (auto sample = first; sample != last; ++sample)
        entries.push_back(sample->second);
    for (const auto& pattern : patterns_)
        if (const auto matches = pattern->matches(text); matches.ok() && matches.value())
            entries.push_back(pattern->entry);
    return entries;
}

Result<std::string> readQuarantineFile(const std::string& path)
{
    if (path.empty())
        return std::string();
    auto text = readFile(pathFromUtf8(path), kMaxListBytes);
    if (!text.ok())
        return text.error().in(sentence("reading the quarantine list"));
    FURROW_TRY(refuseSecretLines(text.value(), path)); // first: what is wrong with a line is said with the line
    if (auto list = Quarantine::parse(text.value()); !list.ok())
        return Error { list.error().code, path + ": " + list.error().message };
    return text;
}

} // namespace furrow
