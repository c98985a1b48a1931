#include "core/chat/template/value.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <charconv>
#include <cmath>

namespace furrow::chat {

namespace {

constexpr int kDeepest = 200; ///< only a namespace that holds itself is nested deeper (kDeepestValue of the evaluator)

bool sequencesEqual(const Sequence& a, const Sequence& b)
{
    if (&a == &b)
        return true;
    return a.kind == b.kind && a.kind != Sequence::Kind::Stream && a.items.size() == b.items.size()
        && std::equal(a.items.begin(), a.items.end(), b.items.begin(), equals);
}

bool dictsEqual(const Dict& a, const Dict& b)
{
    if (&a == &b)
        return true;
    if (a.isNamespace || b.isNamespace || a.entries.size() != b.entries.size())
        return false;
    return std::all_of(a.entries.begin(), a.entries.end(), [&b](const Entry& entry) {
        const auto* other = b.find(entry.key);
        return other && equals(entry.value, *other);
    });
}

template <typename T> int sign(T a, T b) { return a < b ? -1 : a > b ? 1 : 0; }

bool isPrintable(UChar32 c)
{
    if (c == ' ')
        return true;
    const auto mask = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CS_MASK | U_GC_CO_MASK | U_GC_CN_MASK | U_GC_Z_MASK;
    return (U_GET_GC_MASK(c) & mask) == 0;
}

void appendEscaped(UChar32 c, std::string& out)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
        out += kDigits[(static_cast<std::uint32_t>(c) >> shift) & 15u];
}

void appendQuoted(std::string_view text, std::size_t most, std::string& out)
{
    const char quote
        = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
    out += quote;
    const auto size = static_cast<std::int32_t>(text.size());
    for (std::int32_t at = 0; at < size && out.size() < most;) {
        const auto begin = at;
        UChar32 c = 0;
        U8_NEXT_OR_FFFD(text.data(), at, size, c);
        if (c == quote || c == '\\')
            (out += '\\') += static_cast<char>(c);
        else if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else if (isPrintable(c))
            out += text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(at - begin));
        else
            appendEscaped(c, out);
    }
    out += quote;
}

/// Writes a value as Python does, not deeper than kDeepest.
class Writer {
public:
    Writer(std::size_t most, std::string& out)
        : most_(most)
        , out_(out)
    {
    }

    void write(const Value& value)
    {
        if (depth_ > kDeepest || out_.size() >= most_)
            return;
        ++depth_;
        std::visit([this](const auto& held) { writeHeld(held); }, value);
        --depth_;
    }

private:
    void writeHeld(const Undefined&) { out_ += "Undefined"; }
    void writeHeld(const None&) { out_ += "None"; }
    void writeHeld(bool value) { out_ += value ? "True" : "False"; }
    void writeHeld(std::int64_t value) { out_ += std::to_string(value); }
    void writeHeld(double value) { appendFloat(value, out_); }
    void writeHeld(std::string_view value) { appendQuoted(value, most_, out_); }
    void writeHeld(const Function* value) { out_ += "<function " + std::string(value->name) + ">"; }
    void writeHeld(const Loop*) { out_ += "<LoopContext>"; }

    void writeHeld(const Sequence* value)
    {
        if (value->kind == Sequence::Kind::Stream) {
            out_ += "<generator object>";
            return;
        }
        const bool tuple = value->kind == Sequence::Kind::Tuple;
        const bool view = value->kind == Sequence::Kind::View;
        out_ += tuple ? "(" : view ? "dict_items([" : "[";
        for (std::size_t i = 0; i < value->items.size() && out_.size() < most_; ++i) {
            out_ += i > 0 ? ", " : "";
            write(value->items[i]);
        }
        out_ += tuple ? (value->items.size() == 1 ? ",)" : ")") : view ? "])" : "]";
    }

    void writeHeld(const Dict* value)
    {
        out_ += value->isNamespace ? "<Namespace {" : "{";
        for (std::size_t i = 0; i < value->entries.size() && out_.size() < most_; ++i) {
            out_ += i > 0 ? ", " : "";
            write(value->entries[i].key);
            out_ += ": ";
            write(value->entries[i].value);
        }
        out_ += value->isNamespace ? "}>" : "}";
    }

    std::size_t most_;
    std::string& out_;
    int depth_ = 0;
};

} // namespace

const Value* Dict::find(const Value& key) const
{
    for (const auto& entry : entries) {
        if (equals(entry.key, key))
            return &entry.value;
    }
    return nullptr;
}

const Value* Dict::named(std::string_view key) const
{
    for (const auto& entry : entries) {
        const auto* name = std::get_if<std::string_view>(&entry.key);
        if (name && *name == key)
            return &entry.value;
    }
    return nullptr;
}

Extent extentOf(const Value& value)
{
    if (const auto* sequence = std::get_if<const Sequence*>(&value))
        return (*sequence)->extent;
    if (const auto* dict = std::get_if<Dict*>(&value); dict && !(*dict)->isNamespace)
        return (*dict)->extent;
    return {};
}

void reach(Extent& extent, const Value& value)
{
    const auto inner = extentOf(value);
    extent.depth = std::max(extent.depth, inner.depth + 1);
    extent.parts = std::min(kMostParts, extent.parts + inner.parts);
}

bool isTrue(const Value& value)
{
    if (const auto number = numberOf(value))
        return *number != 0;
    if (const auto* text = std::get_if<std::string_view>(&value))
        return !text->empty();
    if (const auto* sequence = std::get_if<const Sequence*>(&value))
        return (*sequence)->kind == Sequence::Kind::Stream || !(*sequence)->items.empty();
    if (const auto* dict = std::get_if<Dict*>(&value))
        return (*dict)->isNamespace || !(*dict)->entries.empty();
    return !std::holds_alternative<Undefined>(value) && !std::holds_alternative<None>(value);
}

std::optional<std::int64_t> wholeOf(const Value& value)
{
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return *whole;
    return std::nullopt;
}

std::optional<double> numberOf(const Value& value)
{
    if (const auto* number = std::get_if<double>(&value))
        return *number;
    if (const auto whole = wholeOf(value))
        return static_cast<double>(*whole);
    return std::nullopt;
}

bool equals(const Value& a, const Value& b)
{
    if (const auto x = wholeOf(a), y = wholeOf(b); x && y)
        return *x == *y;
    if (const auto x = numberOf(a), y = numberOf(b); x && y)
        return *x == *y;
    if (a.index() != b.index())
        return false;
    if (const auto* text = std::get_if<std::string_view>(&a))
        return *text == std::get<std::string_view>(b);
    if (const auto* sequence = std::get_if<const Sequence*>(&a))
        return sequencesEqual(**sequence, *std::get<const Sequence*>(b));
    if (const auto* dict = std::get_if<Dict*>(&a))
        return dictsEqual(**dict, *std::get<Dict*>(b));
    if (const auto* function = std::get_if<const Function*>(&a))
        return *function == std::get<const Function*>(b);
    if (const auto* loop = std::get_if<Loop*>(&a))
        return *loop == std::get<Loop*>(b);
    return true; // both None, or both undefined
}

std::optional<int> order(const Value& a, const Value& b)
{
    if (const auto x = wholeOf(a), y = wholeOf(b); x && y)
        return sign(*x, *y);
    if (const auto x = numberOf(a), y = numberOf(b); x && y)
        return sign(*x, *y);
    const auto *text = std::get_if<std::string_view>(&a), *otherText = std::get_if<std::string_view>(&b);
    if (text && otherText)
        return sign(text->compare(*otherText), 0); // the order of UTF-8 is that of its code points
    const auto *row = std::get_if<const Sequence*>(&a), *otherRow = std::get_if<const Sequence*>(&b);
    if (!row || !otherRow || (*row)->kind != (*otherRow)->kind || (*row)->kind > Sequence::Kind::Tuple)
        return std::nullopt;
    const auto one = (*row)->items, other = (*otherRow)->items;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
        if (!equals(one[i], other[i]))
            return order(one[i], other[i]);
    }
    return sign(one.size(), other.size());
}

void appendFloat(double value, std::string& out)
{
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
        return;
    }
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));
    const auto e = shortest.find('e');
    int exponent = 0;
    const auto* digits = shortest.data() + e + 1 + (shortest[e + 1] == '+' ? 1 : 0);
    std::from_chars(digits, end, exponent);
    const auto format = exponent < -4 || exponent >= 16 ? std::chars_format::scientific : std::chars_format::fixed;
    const auto last = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
    const std::string_view written(buffer, static_cast<std::size_t>(last - buffer));
    out += written;
    if (format == std::chars_format::fixed && written.find('.') == std::string_view::npos)
        out += ".0";
}

void appendRepresentation(const Value& value, std::size_t most, std::string& out) { Writer(most, out).write(value); }

void appendText(const Value& value, std::size_t most, std::string& out)
{
    if (const auto* text = std::get_if<std::string_view>(&value))
        out += *text;
    else if (!std::holds_alternative<Undefined>(value))
        appendRepresentation(value, most, out);
}

std::string typeName(const Value& value)
{
    if (const auto* row = std::get_if<const Sequence*>(&value)) {
        static constexpr const char* kNames[] = { "list", "tuple", "dict_items", "generator" };
        return kNames[static_cast<std::size_t>((*row)->kind)];
    }
    if (const auto* dict = std::get_if<Dict*>(&value); dict && (*dict)->isNamespace)
        return "Namespace";
    static constexpr const char* kNames[]
        = { "Undefined", "NoneType", "bool", "int", "float", "str", "list", "dict", "function", "LoopContext" };
    return kNames[value.index()];
}

} // namespace furrow::chat
