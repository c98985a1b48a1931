#include "core/chat/template/json.h"

#include "core/base/sentence.h"
#include "core/chat/template/text.h"

#include <nlohmann/json.hpp>

#include <cmath>

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

/// Builds values as nlohmann's parser meets them.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit JsonBuilder(Arena& arena)
        : arena_(arena)
    {
    }

    bool null() override { return take(None {}); }
    bool boolean(bool value) override { return take(value); }
    bool number_integer(std::int64_t value) override { return take(value); }
    bool number_unsigned(std::uint64_t value) override
    {
        return std::in_range<std::int64_t>(value) ? take(static_cast<std::int64_t>(value)) : tooLarge();
    }
    bool number_float(double value, const std::string& written) override
    {
        // A whole number that is larger than the parser's own
        return written.find_first_of(".eE") == std::string::npos ? tooLarge() : take(value);
    }
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
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& e) override
    {
        trouble_ = e.id == 406 ? sentence("it has a number that is too large to be read")
                               : sentence("it is not JSON at byte %1", { std::to_string(byte) });
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

    bool tooLarge()
    {
        trouble_ = sentence("it has a number that is too large to be read");
        return false;
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
    JsonBuilder builder(arena);
    (void)nlohmann::json::sax_parse(text, &builder);
    return builder.result();
}

} // namespace furrow::chat
