#include "core/data/source/json_list.h"

#include "core/base/sentence.h"
#include "core/data/source/json_events.h"
#include "core/data/source/json_text.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kPiece = 256 << 10;
constexpr std::size_t kLongestName = 64 << 10;

/// What is told of a document of which only the form counts, and the names behind its list.
class NamesBehind {
public:
    /// @param members  that the document begins with, one inside the other
    explicit NamesBehind(const std::vector<std::string>& members)
        : members_(members)
        , level_(members.size())
    {
    }
    bool hasOneAgain() const { return hasOneAgain_; }

    bool wantsString() const { return false; }
    void string(std::string&) { }
    void null() { }
    void scalar() { }
    void key(std::string& name)
    {
        const bool isBehind = ++keys_ > members_.size();
        hasOneAgain_ = hasOneAgain_ || (isBehind && depth_ == level_ && name == members_[level_ - 1]);
    }
    void startObject() { ++depth_; }
    void startArray() { ++depth_; }
    void endObject()
    {
        level_ -= depth_ == level_ ? 1 : 0;
        --depth_;
    }
    void endArray() { --depth_; }

private:
    const std::vector<std::string>& members_;
    std::size_t level_; ///< of the objects around the list so many are still open
    std::size_t depth_ = 0;
    std::size_t keys_ = 0;
    bool hasOneAgain_ = false;
};

/// As Python reads it, with bytes and escapes that are no characters mended.
bool isJson(const std::string& text)
{
    const std::vector<std::string> none;
    const auto walk = [&none](const std::string& json) {
        NamesBehind nothing(none);
        return JsonWalker<NamesBehind>(json, JsonGrammar::Python, nothing).walk();
    };
    return walk(text) || walk(mendedJson(text));
}

/// Walks over a document byte by byte.
class Walk {
public:
    Walk(ByteStream& stream, const std::string& name)
        : stream_(stream)
        , name_(name)
        , piece_(kPiece)
    {
    }
    Result<std::uint64_t> toList(const std::vector<std::string>& members)
    {
        if (members.empty()) {
            FURROW_TRY_ASSIGN(const auto c, nextSolid());
            return c == '[' ? Result<std::uint64_t>(at_)
                            : Error { ErrorCode::InvalidArgument, sentence("%1 is not a JSON list.", { name_ }) };
        }
        FURROW_TRY(expect('{'));
        FURROW_TRY_ASSIGN(const bool found, find(members, 0));
        if (!found && metOther_)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1: the member '%2' is not a list.", { name_, members.back() }) };
        if (!found)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has no member '%2' with the list of rows that text_column names.",
                    { name_, members[std::min(deepest_, members.size() - 1)] }) };
        const std::string closed = before_ + "]" + std::string(members.size(), '}');
        return before_.size() > kMostAroundJsonList || isJson(closed) ? Result<std::uint64_t>(at_) : broken();
    }

private:
    /// Inside the object in which the name at `level` is looked for: on behind the bracket of the list, or (false)
    /// behind the object. Of equal names one that leads to no list is passed by.
    Result<bool> find(const std::vector<std::string>& members, std::size_t level)
    {
        deepest_ = std::max(deepest_, level);
        FURROW_TRY_ASSIGN(auto c, nextSolid());
        while (c != '}') {
            if (c != '"')
                return broken();
            FURROW_TRY_ASSIGN(const auto key, string());
            FURROW_TRY(expect(':'));
            const bool isLast = level + 1 == members.size();
            FURROW_TRY_ASSIGN(const char first, peekSolid());
            if (key != members[level]) {
                FURROW_TRY(skipValue());
            } else if (first != (isLast ? '[' : '{')) {
                metOther_ = metOther_ || isLast;
                FURROW_TRY(skipValue());
            } else {
                take();
                if (isLast)
                    return true;
                FURROW_TRY_ASSIGN(const bool found, find(members, level + 1));
                if (found)
                    return true;
                FURROW_TRY(skipValue()); // the comma behind it
            }
            FURROW_TRY_ASSIGN(c, nextSolid());
        }
        return false;
    }
    /// Over a value and the comma behind it; stays before the bracket that closes the object.
    Status skipValue()
    {
        JsonNesting nesting;
        for (;;) {
            FURROW_TRY_ASSIGN(auto c, peek());
            if (c == '}' && nesting.depth() == 0 && !nesting.inString())
                return {};
            take();
            if (nesting.look(c) && nesting.depth() == 0 && c == ',')
                return {};
        }
    }
    /// Behind an opening quote.
    Result<std::string> string()
    {
        std::string raw;
        for (bool escaped = false;;) {
            FURROW_TRY_ASSIGN(auto c, peek());
            take();
            raw += c;
            if (!escaped && c == '"')
                break;
            escaped = !escaped && c == '\\';
            if (raw.size() > kLongestName)
                return broken();
        }
        std::string text;
        std::size_t at = 0;
        return readJsonString(raw, at, &text) ? Result<std::string>(std::move(text)) : broken();
    }
    Status expect(char wanted)
    {
        auto c = nextSolid();
        return !c.ok() ? Status(c.error()) : c.value() == wanted ? Status {} : Status(broken());
    }
    Result<char> nextSolid()
    {
        for (;;) {
            FURROW_TRY_ASSIGN(auto c, peek());
            take();
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
                return c;
        }
    }
    Result<char> peek()
    {
        if (begin_ == end_) {
            FURROW_TRY_ASSIGN(auto n, stream_.read(piece_));
            begin_ = 0;
            end_ = n;
            if (end_ == 0)
                return Error { ErrorCode::Corrupt,
                    sentence(
                        "%1 ends in the middle of its JSON, after %2 bytes. It is cut off: fetch or write it again.",
                        { name_, std::to_string(at_) }) };
        }
        return piece_[begin_];
    }
    /// The next byte that is no space; stays before it.
    Result<char> peekSolid()
    {
        for (;;) {
            FURROW_TRY_ASSIGN(auto c, peek());
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
                return c;
            take();
        }
    }
    void take()
    {
        if (before_.size() <= kMostAroundJsonList)
            before_ += piece_[begin_];
        ++begin_;
        ++at_;
    }
    Error broken() const
    {
        return { ErrorCode::Corrupt,
            sentence("%1 is broken JSON before byte %2. Write it again.", { name_, std::to_string(at_) }) };
    }

    ByteStream& stream_;
    std::string name_;
    std::vector<char> piece_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t at_ = 0;
    std::string before_; ///< what was taken, as far as it can be read as JSON
    std::size_t deepest_ = 0; ///< level of the names that was reached
    bool metOther_ = false; ///< the last name leads to something that is no list
};

} // namespace

Result<std::uint64_t> findJsonList(ByteStream& stream, const std::vector<std::string>& members, const std::string& name)
{
    return Walk(stream, name).toList(members);
}

BehindJsonList readBehindJsonList(std::string_view rest, const std::vector<std::string>& members)
{
    std::string document;
    for (std::size_t i = 0; i < members.size(); ++i)
        document += R"({"":)"; // the name that was met is not looked at
    document += "[]";
    document += rest;
    for (const std::string& json : { document, mendedJson(document) }) {
        NamesBehind names(members);
        if (JsonWalker<NamesBehind>(json, JsonGrammar::Python, names).walk())
            return names.hasOneAgain() ? BehindJsonList::NamesItAgain : BehindJsonList::Whole;
    }
    return BehindJsonList::Broken;
}

} // namespace furrow
