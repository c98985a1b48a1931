#include "core/data/source/arrow_frames.h"

#include "core/base/sentence.h"

#include <cstring>

namespace furrow {

namespace {

constexpr std::uint32_t kContinuation = 0xffffffff;
constexpr std::uint32_t kMostMetadata = 64u << 20;
constexpr std::uint64_t kLargest = 1ull << 60;

/// A table of a flatbuffer: its fields are found through a list of offsets. Every place is checked.
class FlatTable {
public:
    /// The root of a buffer.
    static std::optional<FlatTable> root(std::string_view buffer)
    {
        const auto at = value<std::uint32_t>(buffer, 0);
        return at ? table(buffer, *at) : std::nullopt;
    }
    template <typename T> std::optional<T> number(int field) const
    {
        const auto at = place(field);
        return at ? value<T>(buffer_, *at) : std::nullopt;
    }
    std::optional<FlatTable> inner(int field) const
    {
        const auto at = place(field);
        const auto offset = at ? value<std::uint32_t>(buffer_, *at) : std::nullopt;
        return offset ? table(buffer_, *at + *offset) : std::nullopt;
    }

private:
    template <typename T> static std::optional<T> value(std::string_view buffer, std::uint64_t at)
    {
        if (at > buffer.size() || sizeof(T) > buffer.size() - at)
            return std::nullopt;
        T number;
        std::memcpy(&number, buffer.data() + at, sizeof number);
        return number;
    }
    static std::optional<FlatTable> table(std::string_view buffer, std::uint64_t at)
    {
        const auto back = value<std::int32_t>(buffer, at);
        const auto fields = back ? static_cast<std::int64_t>(at) - *back : -1;
        if (fields < 0 || !value<std::uint16_t>(buffer, static_cast<std::uint64_t>(fields)))
            return std::nullopt;
        FlatTable table;
        table.buffer_ = buffer;
        table.at_ = at;
        table.fields_ = static_cast<std::uint64_t>(fields);
        return table;
    }
    /// Nothing: the field has its default.
    std::optional<std::uint64_t> place(int field) const
    {
        const auto slot = 4 + 2 * static_cast<std::uint64_t>(field);
        const auto size = value<std::uint16_t>(buffer_, fields_);
        const auto offset = size && slot + 2 <= *size ? value<std::uint16_t>(buffer_, fields_ + slot) : std::nullopt;
        return offset && *offset != 0 ? std::optional(at_ + *offset) : std::nullopt;
    }

    std::string_view buffer_;
    std::uint64_t at_ = 0;
    std::uint64_t fields_ = 0;
};

/// Kind, body and rows out of the metadata. false: it is none.
bool describe(ArrowFrame& frame)
{
    constexpr int kHeaderType = 1, kHeader = 2, kBodyLength = 3, kRows = 0;
    const auto message = FlatTable::root(frame.metadata);
    const auto type = message ? message->number<std::uint8_t>(kHeaderType) : std::nullopt;
    if (!type)
        return false;
    const auto body = message->number<std::int64_t>(kBodyLength).value_or(0);
    frame.kind = *type == 1 ? ArrowFrame::Kind::Schema
        : *type == 2        ? ArrowFrame::Kind::Dictionary
        : *type == 3        ? ArrowFrame::Kind::Batch
                            : ArrowFrame::Kind::Other;
    frame.bodyBytes = static_cast<std::uint64_t>(body);
    if (frame.kind != ArrowFrame::Kind::Batch)
        return body >= 0;
    const auto batch = message->inner(kHeader);
    const auto rows = batch ? batch->number<std::int64_t>(kRows).value_or(0) : -1;
    frame.rows = static_cast<std::uint64_t>(rows);
    return body >= 0 && rows >= 0 && frame.bodyBytes < kLargest && frame.rows < kLargest;
}

} // namespace

ArrowFrames::ArrowFrames(std::unique_ptr<ByteStream> stream, std::string name, bool endIsMarked)
    : stream_(std::move(stream))
    , name_(std::move(name))
    , endIsMarked_(endIsMarked)
{
}

Result<std::optional<ArrowFrame>> ArrowFrames::next()
{
    if (atEnd_)
        return std::optional<ArrowFrame> {};
    FURROW_TRY_ASSIGN(auto stepped, stream_->skip(body_));
    at_ += stepped;
    if (stepped < body_)
        return cut();
    body_ = 0;
    std::uint32_t size = kContinuation;
    for (int word = 0; word < 2 && size == kContinuation; ++word) { // before Arrow 0.15 the size came alone
        char bytes[sizeof size];
        FURROW_TRY_ASSIGN(auto n, readFully(*stream_, bytes));
        if (n == 0 && word == 0 && !endIsMarked_)
            size = 0;
        else if (n < sizeof bytes)
            return cut();
        else
            std::memcpy(&size, bytes, sizeof size);
        at_ += n;
    }
    atEnd_ = size == 0;
    if (atEnd_)
        return std::optional<ArrowFrame> {};
    if (size > kMostMetadata)
        return damaged(sentence("no message where one should be"));
    ArrowFrame frame;
    frame.metadata.resize(size);
    FURROW_TRY_ASSIGN(auto n, readFully(*stream_, frame.metadata));
    at_ += n;
    if (n < size)
        return cut();
    if (!describe(frame))
        return damaged(sentence("a message that cannot be read"));
    body_ = frame.bodyBytes;
    return std::optional(std::move(frame));
}

Status ArrowFrames::readBody(std::span<char> into)
{
    FURROW_TRY_ASSIGN(auto n, readFully(*stream_, into));
    at_ += n;
    body_ -= n;
    return n == into.size() ? Status {} : Status(cut());
}

Error ArrowFrames::cut() const
{
    return { ErrorCode::Corrupt,
        sentence("%1 ends in the middle of its Arrow data, after %2 bytes. It is cut off: fetch or write it again.",
            { name_, std::to_string(at_) }) };
}

Error ArrowFrames::damaged(const Message& why) const
{
    return { ErrorCode::Corrupt,
        sentence("%1 has damaged Arrow data before byte %2 (%3). Fetch or write it again.",
            { name_, std::to_string(at_), why }) };
}

} // namespace furrow
