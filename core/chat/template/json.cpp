#include "core/chat/template/json.h"

#include "core/base/sentence.h"
#include "core/chat/template/text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <map>

namespace furrow::chat {

namespace {

constexpr std::size_t kDeepest = 64;

void appendUnit(std::uint32_t unit, std::string& out)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += kDigits[(unit >> shift) & 15u];
}

void appendJsonText(std::string_view text, bool ascii, std::string& out)
{
    static constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = at;
        const auto c = nextCodePoint(text, at);
        const auto place = c < 0x80 ? kEscaped.find(static_cast<char>(c)) : std::string_view::npos;
        if (place != std::string_view::npos) {
            (out += '\\') += kLetters[place];
        } else if (c < 0x20 || (ascii && c >= 0x7f && c < 0x10000)) {
            appendUnit(c, out);
        } else if (ascii && c >= 0x10000) {
            appendUnit(0xD800 + ((c - 0x10000) >> 10), out);
            appendUnit(0xDC00 + ((c - 0x10000) & 0x3FFu), out);
        } else {
            out += text.substr(begin, at - begin);
        }
    }
    out += '"';
}

class JsonWriter {
public:
    JsonWriter(const JsonStyle& style, std::size_t most, std::string& out)
        : style_(style)
        , most_(most)
        , out_(out)
    {
    }

    void write(const Value& value)
    {
        if (out_.size() >= most_ || !trouble_.empty())
            return;
        if (const auto* row = std::get_if<const Sequence*>(&value); row && (*row)->kind <= Sequence::Kind::Tuple)
            writeList((*row)->items);
        else if (const auto* dict = std::get_if<Dict*>(&value); dict && !(*dict)->isNamespace)
            writeDict((*dict)->entries);
        else if (!writeScalar(value))
            trouble_ = "Object of type " + typeName(value) + " is not JSON serializable";
    }
    const std::string& trouble() const { return trouble_; }

private:
    bool writeScalar(const Value& value)
    {
        if (const auto* text = std::get_if<std::string_view>(&value))
            appendJsonText(*text, style_.ascii, out_);
        else if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number))
            out_ += std::isnan(*number) ? "NaN" : *number < 0 ? "-Infinity" : "Infinity";
        else if (number)
            appendFloat(*number, out_);
        else if (const auto* flag = std::get_if<bool>(&value))
            out_ += *flag ? "true" : "false";
        else if (const auto* whole = std::get_if<std::int64_t>(&value))
            out_ += std::to_string(*whole);
        else if (std::holds_alternative<None>(value))
            out_ += "null";
        else
            return false;
        return true;
    }

    void startLine()
    {
        if (!style_.indent)
            return;
        out_ += '\n';
        for (int i = 0; i < depth_; ++i)
            out_ += *style_.indent;
    }

    void writeList(std::span<const Value> items)
    {
        out_ += '[';
        ++depth_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            out_ += i > 0 ? style_.betweenItems : "";
            startLine();
            write(items[i]);
        }
        --depth_;
        if (!items.empty())
            startLine();
        out_ += ']';
    }

    void writeDict(std::span<const Entry> entries)
    {
        std::vector<Entry> sorted(entries.begin(), entries.end());
        if (style_.sorted)
            std::stable_sort(sorted.begin(), sorted.end(),
                [](const Entry& a, const Entry& b) { return order(a.key, b.key).value_or(0) < 0; });
        out_ += '{';
        ++depth_;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            out_ += i > 0 ? style_.betweenItems : "";
            startLine();
            writeKey(sorted[i].key);
            out_ += style_.behindKey;
            write(sorted[i].value);
        }
        --depth_;
        if (!sorted.empty())
            startLine();
        out_ += '}';
    }

    void writeKey(const Value& key)
    {
        const bool text = std::holds_alternative<std::string_view>(key);
        out_ += text ? "" : "\"";
        if (!writeScalar(key))
            trouble_ = "keys must be str, int, float, bool or None, not " + typeName(key);
        out_ += text ? "" : "\"";
    }

    const JsonStyle& style_;
    std::size_t most_;
    std::string& out_;
    std::string trouble_;
    int depth_ = 0;
};

/// Moves `at` over digits; false: there are none.
bool skipDigits(std::string_view text, std::size_t& at)
{
    const auto begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        ++at;
    return at > begin;
}

bool isNumber(std::string_view text)
{
    std::size_t at = text.starts_with('-') ? 1 : 0;
    if (text.substr(at).starts_with('0'))
        ++at;
    else if (!skipDigits(text, at))
        return false;
    if (at < text.size() && text[at] == '.' && !skipDigits(text, ++at))
        return false;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        if (!skipDigits(text, at))
            return false;
    }
    return at == text.size();
}

/// Numbers that Python's json reads and nlohmann's parser does not: no numbers, and those that no double holds.
struct OddNumbers {
    std::string text; ///< with 0 in the place of each
    std::map<std::int64_t, double> values; ///< by the place among all numbers of the text
};

/// The number or word that begins at `at`, outside of strings; "" for neither.
std::string_view numberAt(std::string_view text, std::size_t at)
{
    const auto rest = text.substr(at);
    for (const std::string_view word : { "NaN", "Infinity", "-Infinity" })
        if (rest.starts_with(word))
            return rest.substr(0, word.size());
    if (rest.front() != '-' && (rest.front() < '0' || rest.front() > '9'))
        return {};
    return rest.substr(0, rest.find_first_not_of("+-.0123456789eE"));
}

OddNumbers oddNumbers(std::string_view text)
{
    OddNumbers odd;
    std::int64_t place = 0;
    std::size_t copied = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at)
                at += text[at] == '\\' ? 1 : 0;
            ++at;
            continue;
        }
        const auto number = numberAt(text, at);
        if (number.empty()) {
            ++at;
            continue;
        }
        const bool isWord = number.back() == 'N' || number.back() == 'y';
        const double value = std::strtod(std::string(number).c_str(), nullptr);
        if (isWord || (!std::isfinite(value) && isNumber(number))) {
            odd.text.append(text.substr(copied, at - copied)).append(" 0 "); // never joined to what stands beside it
            odd.values[place] = value;
            copied = at + number.size();
        }
        at += number.size();
        ++place;
    }
    if (!odd.values.empty())
        odd.text.append(text.substr(copied));
    return odd;
}

/// Builds values as nlohmann's parser meets them.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    /// @param odd  lives as long as this
    JsonBuilder(Arena& arena, const OddNumbers& odd)
        : arena_(arena)
        , odd_(odd)
    {
    }

    bool null() override { return take(None {}); }
    bool boolean(bool value) override { return take(value); }
    bool number_integer(std::int64_t value) override { return takeNumber(value); }
    bool number_unsigned(std::uint64_t value) override
    {
        return takeNumber(std::in_range<std::int64_t>(value) ? Value(static_cast<std::int64_t>(value))
                                                             : Value(static_cast<double>(value)));
    }
    bool number_float(double value, const std::string&) override { return takeNumber(value); }
    bool string(std::string& value) override { return take(arena_.keep(value)); }
    bool binary(nlohmann::json::binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(std::string& value) override
    {
        open_.back().key = arena_.keep(value);
        return true;
    }
    bool end_array() override
    {
        Sequence sequence;
        for (const auto& item : open_.back().items)
            reach(sequence.extent, item);
        sequence.items = arena_.copy(open_.back().items);
        open_.pop_back();
        return take(static_cast<const Sequence*>(arena_.one(sequence)));
    }
    bool end_object() override
    {
        Dict dict;
        for (const auto& entry : open_.back().entries)
            reach(dict.extent, entry.value);
        dict.entries = arena_.copy(open_.back().entries);
        open_.pop_back();
        return take(arena_.one(dict));
    }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override
    {
        trouble_ = sentence("it is not JSON at byte %1", { std::to_string(byte) });
        return false;
    }

    Result<Value> result() const
    {
        if (arena_.full())
            return Error { ErrorCode::InvalidArgument, sentence("it is too large") };
        if (!trouble_.empty())
            return Error { ErrorCode::InvalidArgument, trouble_ };
        return whole_;
    }

private:
    struct Open {
        bool isObject = false;
        std::string_view key;
        std::vector<Value> items;
        std::vector<Entry> entries;
    };

    bool takeNumber(const Value& value)
    {
        const auto odd = odd_.values.find(numbers_++);
        return take(odd == odd_.values.end() ? value : Value(odd->second));
    }
    bool open(bool isObject)
    {
        if (open_.size() >= kDeepest) {
            trouble_ = sentence("it is nested deeper than %1 levels", { std::to_string(kDeepest) });
            return false;
        }
        open_.push_back({ isObject, {}, {}, {} });
        return true;
    }
    bool take(const Value& value)
    {
        if (open_.empty()) {
            whole_ = value;
        } else if (!open_.back().isObject) {
            open_.back().items.push_back(value);
        } else {
            auto& entries = open_.back().entries;
            const auto same
                = [this](const Entry& entry) { return std::get<std::string_view>(entry.key) == open_.back().key; };
            const auto known = std::find_if(entries.begin(), entries.end(), same);
            if (known == entries.end())
                entries.push_back({ open_.back().key, value });
            else
                known->value = value;
            if (entries.size() > kMostKeys) {
                trouble_ = sentence("it is too large");
                return false;
            }
        }
        return !arena_.full();
    }

    static constexpr std::size_t kMostKeys = 4096; ///< of one object: each new one is looked for among them

    Arena& arena_;
    const OddNumbers& odd_;
    std::int64_t numbers_ = 0; ///< that came
    std::vector<Open> open_;
    Value whole_ {};
    std::string trouble_;
};

} // namespace

std::string appendJson(const Value& value, const JsonStyle& style, std::size_t most, std::string& out)
{
    JsonWriter writer(style, most, out);
    writer.write(value);
    return writer.trouble();
}

Result<Value> readJson(std::string_view text, Arena& arena)
{
    const OddNumbers none;
    JsonBuilder plain(arena, none);
    if (nlohmann::json::sax_parse(text, &plain))
        return plain.result();
    const auto odd = oddNumbers(text); // few texts have any: only one that the parser refuses is looked through
    if (odd.values.empty())
        return plain.result();
    JsonBuilder builder(arena, odd);
    (void)nlohmann::json::sax_parse(odd.text, &builder);
    return builder.result();
}

} // namespace furrow::chat
