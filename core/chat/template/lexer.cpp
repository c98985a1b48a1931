#include "core/chat/template/lexer.h"

#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/chat/template/text.h"

#include <unicode/uchar.h>

#include <array>
#include <charconv>

namespace furrow::chat {

namespace {

constexpr auto kNowhere = std::string_view::npos;

/// Newlines as \n, and without the last one, as Jinja2 reads a template.
std::string plainNewlines(std::string_view source)
{
    std::string out;
    out.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r') {
            i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
            out += '\n';
        } else {
            out += source[i];
        }
    }
    if (out.ends_with('\n'))
        out.pop_back();
    return out;
}

bool isNameStart(char32_t c) { return c == '_' || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_START); }
bool isNamePart(char32_t c) { return c == '_' || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_XID_CONTINUE); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
public:
    Lexer(std::string_view source, Arena& arena)
        : source_(arena.keep(plainNewlines(source)))
        , arena_(arena)
    {
    }

    Result<std::vector<Token>> read()
    {
        while (at_ < source_.size() && error_.empty())
            readData();
        if (!error_.empty())
            return templateError(line_, error_);
        add(Token::Kind::End, {});
        return std::move(tokens_);
    }

private:
    std::string_view rest() const { return source_.substr(at_); }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
    void add(Token::Kind kind, std::string_view text, Value value = {})
    {
        tokens_.push_back({ kind, text, value, line_ });
    }
    void fail(std::string what)
    {
        if (error_.empty())
            error_ = std::move(what);
    }

    /// The rules read on `count` bytes further; lstrip_blocks asks whether they ended a line.
    void advance(std::size_t count)
    {
        const auto passed = source_.substr(at_, count);
        line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
        at_ += passed.size();
        if (!passed.empty())
            lineStarts_ = passed.back() == '\n';
    }
    void skipSpace() { advance(rest().size() - stripLeft(rest()).size()); }

    void readData()
    {
        std::size_t tag = at_;
        for (tag = source_.find('{', at_); tag != kNowhere; tag = source_.find('{', tag + 1)) {
            const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
            if (next == '{' || next == '%' || next == '#')
                break;
        }
        if (tag == kNowhere) {
            addData(rest());
            advance(rest().size());
            return;
        }
        const char kind = source_[tag + 1];
        const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
        auto data = source_.substr(at_, tag - at_);
        if (sign == '-')
            data = stripRight(data);
        else if (sign != '+' && kind != '{')
            data = withoutIndent(data);
        addData(data);
        advance(tag - at_ + 2 + (sign == '-' || sign == '+' ? 1 : 0));
        if (kind == '#')
            readComment();
        else if (kind == '%' && isRaw())
            readRaw();
        else
            readTag(kind == '{');
    }

    void addData(std::string_view data)
    {
        if (!data.empty())
            add(Token::Kind::Data, data);
    }

    std::string_view withoutIndent(std::string_view data) const
    {
        const auto newline = data.rfind('\n');
        if (newline == kNowhere && !lineStarts_)
            return data;
        const auto lineBegin = newline == kNowhere ? 0 : newline + 1;
        return stripLeft(data.substr(lineBegin)).empty() ? data.substr(0, lineBegin) : data;
    }

    /// Behind the end of a tag: what its sign and trim_blocks take away with it.
    void endTag(char sign, bool trims)
    {
        advance((sign == '-' || sign == '+' ? 1u : 0u) + 2);
        if (sign == '-')
            skipSpace();
        else if (trims && sign != '+' && peek() == '\n')
            advance(1);
    }

    void readComment()
    {
        const auto end = source_.find("#}", at_);
        if (end == kNowhere)
            return fail("a comment is not closed");
        const char sign = end > at_ ? source_[end - 1] : '\0';
        const bool hasSign = sign == '-' || sign == '+';
        advance(end - at_ - (hasSign ? 1 : 0));
        endTag(hasSign ? sign : '\0', true);
    }

    bool isRaw() const
    {
        const auto inner = stripLeft(rest());
        if (!inner.starts_with("raw"))
            return false;
        const auto behind = stripLeft(inner.substr(3));
        return behind.starts_with("%}") || behind.starts_with("-%}");
    }

    void readRaw()
    {
        skipSpace();
        advance(3);
        skipSpace();
        endTag(peek() == '-' ? '-' : '\0', false);
        for (auto tag = source_.find("{%", at_); tag != kNowhere; tag = source_.find("{%", tag + 2)) {
            const char sign = source_.substr(tag + 2).empty() ? '\0' : source_[tag + 2];
            const bool hasSign = sign == '-' || sign == '+';
            const auto inner = stripLeft(source_.substr(tag + 2 + (hasSign ? 1 : 0)));
            const auto behind = inner.starts_with("endraw") ? stripLeft(inner.substr(6)) : std::string_view();
            const char endSign = behind.starts_with('-') || behind.starts_with('+') ? behind[0] : '\0';
            if (!behind.substr(endSign ? 1 : 0).starts_with("%}"))
                continue;
            const auto data = source_.substr(at_, tag - at_);
            addData(sign == '-' ? stripRight(data) : sign == '+' ? data : withoutIndent(data));
            advance(static_cast<std::size_t>(behind.data() - source_.data()) - at_);
            endTag(endSign, true);
            return;
        }
        fail("'raw' is not closed");
    }

    void readTag(bool prints)
    {
        add(prints ? Token::Kind::PrintBegin : Token::Kind::BlockBegin, {});
        const std::string_view end = prints ? "}}" : "%}";
        std::string open; // brackets that wait for their end
        for (skipSpace(); error_.empty(); skipSpace()) {
            if (at_ >= source_.size())
                return fail("a tag is not closed");
            const char sign = peek();
            const bool hasSign = sign == '-' || (sign == '+' && !prints);
            if (open.empty() && rest().substr(hasSign ? 1 : 0).starts_with(end)) {
                add(prints ? Token::Kind::PrintEnd : Token::Kind::BlockEnd, {});
                return endTag(hasSign ? sign : '\0', !prints);
            }
            readToken(open);
        }
    }

    void readToken(std::string& open)
    {
        const char c = peek();
        std::size_t behind = at_;
        if (isDigit(c))
            readNumber();
        else if (c == '\'' || c == '"')
            readText(c);
        else if (isNameStart(nextCodePoint(source_, behind)))
            readName();
        else
            readOperator(open);
    }

    void readName()
    {
        auto end = at_;
        for (auto next = at_; next < source_.size(); end = next) {
            if (!isNamePart(nextCodePoint(source_, next)))
                break;
        }
        const auto name = source_.substr(at_, end - at_);
        add(Token::Kind::Name, name);
        advance(name.size());
    }

    /// The digits at `from` with single underscores between them.
    std::string_view digits(std::size_t from, std::string_view allowed) const
    {
        auto end = from;
        while (end < source_.size()
            && (allowed.find(source_[end]) != kNowhere
                || (source_[end] == '_' && end > from && end + 1 < source_.size()
                    && allowed.find(source_[end + 1]) != kNowhere)))
            ++end;
        return source_.substr(from, end - from);
    }

    void readNumber()
    {
        static constexpr std::string_view kDecimal = "0123456789";
        const auto base = peek() != '0' ? 10
            : (peek(1) | 32) == 'x'     ? 16
            : (peek(1) | 32) == 'o'     ? 8
            : (peek(1) | 32) == 'b'     ? 2
                                        : 10;
        if (base != 10)
            return addWhole(
                digits(at_ + 2, std::string_view("0123456789abcdefABCDEF").substr(0, base == 16 ? 22 : base)), base, 2);
        const auto whole = digits(at_, kDecimal);
        auto end = at_ + whole.size();
        const bool behindDot = at_ > 0 && source_[at_ - 1] == '.';
        const auto part = source_.substr(end).starts_with('.') ? digits(end + 1, kDecimal) : std::string_view();
        if (!part.empty())
            end += 1 + part.size();
        if (end < source_.size() && (source_[end] | 32) == 'e') {
            const bool sign = end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+');
            const auto power = digits(end + (sign ? 2 : 1), kDecimal);
            if (!power.empty())
                end += (sign ? 2 : 1) + power.size();
        }
        if (behindDot || end == at_ + whole.size())
            return addWhole(whole, 10, 0);
        std::string plain(source_.substr(at_, end - at_));
        std::erase(plain, '_');
        double number = 0;
        std::from_chars(plain.data(), plain.data() + plain.size(), number);
        add(Token::Kind::Number, source_.substr(at_, end - at_), number);
        advance(end - at_);
    }

    void addWhole(std::string_view written, int base, std::size_t prefix)
    {
        std::string plain(written);
        std::erase(plain, '_');
        std::int64_t number = 0;
        const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), number, base);
        if (read.ec != std::errc {})
            return fail(written.empty() ? "a number has no digits" : "a number is too large");
        add(Token::Kind::Number, written, number);
        advance(prefix + written.size());
    }

    void readText(char quote)
    {
        auto end = at_ + 1;
        bool escaped = false;
        for (; end < source_.size() && source_[end] != quote; ++end) {
            if (source_[end] == '\\') {
                escaped = true;
                ++end;
            }
        }
        if (end >= source_.size())
            return fail("a text is not closed");
        const auto inner = source_.substr(at_ + 1, end - at_ - 1);
        add(Token::Kind::Text, escaped ? resolved(inner) : inner);
        advance(inner.size() + 2);
    }

    std::string_view resolved(std::string_view inner)
    {
        std::string out;
        for (std::size_t i = 0; i < inner.size(); ++i) {
            if (inner[i] != '\\')
                out += inner[i];
            else
                i = resolveEscape(inner, i + 1, out);
        }
        return arena_.keep(out);
    }

    /// @param at  of what is behind the backslash
    /// @return the last byte of the escape
    std::size_t resolveEscape(std::string_view inner, std::size_t at, std::string& out)
    {
        static constexpr std::string_view kNames = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
        const char c = inner[at];
        if (const auto place = kNames.find(c); place != kNowhere) {
            out += kMeanings[place];
            return at;
        }
        if (c == '\n')
            return at;
        if (c == 'x' || c == 'u' || c == 'U')
            return resolveCodePoint(inner.substr(at + 1,
                                        c == 'x'       ? 2
                                            : c == 'u' ? 4
                                                       : 8),
                       c == 'x'       ? 2
                           : c == 'u' ? 4
                                      : 8,
                       16, out)
                + at;
        if (c >= '0' && c <= '7') {
            const auto size = std::min(inner.find_first_not_of("01234567", at), std::min(at + 3, inner.size())) - at;
            return resolveCodePoint(inner.substr(at, size), size, 8, out) + at - 1;
        }
        if (c == 'N')
            fail("a character is written by its name, which is not supported");
        out += '\\';
        out += c;
        return at;
    }

    std::size_t resolveCodePoint(std::string_view digits, std::size_t size, int base, std::string& out)
    {
        std::uint32_t c = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), c, base);
        if (digits.size() != size || read.ec != std::errc {} || read.ptr != digits.data() + digits.size()
            || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
            fail("an escape in a text stands for no character");
        else
            appendCodePoint(c, out);
        return size;
    }

    void readOperator(std::string& open)
    {
        static constexpr std::array<std::string_view, 27> kOperators = { "//", "**", "==", "!=", ">=", "<=", "+", "-",
            "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";", "" };
        for (const auto written : kOperators) {
            if (written.empty())
                break;
            if (!rest().starts_with(written))
                continue;
            if (written == "(" || written == "[" || written == "{")
                open += written == "(" ? ')' : written == "[" ? ']' : '}';
            else if (written == ")" || written == "]" || written == "}") {
                if (open.empty() || open.back() != written[0])
                    return fail("'" + std::string(written) + "' closes nothing");
                open.pop_back();
            }
            add(Token::Kind::Operator, source_.substr(at_, written.size()));
            return advance(written.size());
        }
        fail("a tag has a character that means nothing there");
    }

    std::string_view source_;
    Arena& arena_;
    std::vector<Token> tokens_;
    std::string error_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool lineStarts_ = true; // what was read last ended a line
};

} // namespace

Error templateError(int line, const Message& what)
{
    return { ErrorCode::InvalidArgument,
        sentence("the chat template fails in line %1: %2", { std::to_string(line), what }) };
}

Result<std::vector<Token>> readTokens(std::string_view source, Arena& arena)
{
    if (!isValidUtf8(source))
        return templateError(1, sentence("it is not UTF-8"));
    return Lexer(source, arena).read();
}

} // namespace furrow::chat
