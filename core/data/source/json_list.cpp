#include "core/data/source/json_list.h"

#include "core/base/sentence.h"
#include "core/data/source/json_events.h"

namespace furrow {

namespace {

constexpr std::size_t kPiece = 256 << 10;
constexpr std::size_t kLongestName = 64 << 10;

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
        for (const auto& member : members)
            FURROW_TRY(intoMember(member));
        FURROW_TRY_ASSIGN(auto c, nextSolid());
        if (c != '[')
            return Error { ErrorCode::InvalidArgument,
                members.empty() ? sentence("%1 is not a JSON list.", { name_ })
                                : sentence("%1: the member '%2' is not a list.", { name_, members.back() }) };
        return at_;
    }

private:
    /// Behind the colon of that member of the object that begins here.
    Status intoMember(const std::string& member)
    {
        FURROW_TRY(expect('{'));
        for (;;) {
            FURROW_TRY_ASSIGN(auto c, nextSolid());
            if (c == '}')
                return Error { ErrorCode::InvalidArgument,
                    sentence(
                        "%1 has no member '%2' with the list of rows that text_column names.", { name_, member }) };
            if (c != '"')
                return broken();
            FURROW_TRY_ASSIGN(auto key, string());
            FURROW_TRY(expect(':'));
            if (key == member)
                return {};
            FURROW_TRY(skipValue());
        }
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
    void take()
    {
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
};

} // namespace

Result<std::uint64_t> findJsonList(ByteStream& stream, const std::vector<std::string>& members, const std::string& name)
{
    return Walk(stream, name).toList(members);
}

} // namespace furrow
