#include "core/data/source/record_reader.h"

#include "core/data/source/warc_record.h"

#include <algorithm>
#include <cstring>

namespace furrow {

namespace {

constexpr std::size_t kFirstBuffer = 1 << 20;

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

} // namespace

RecordReader::RecordReader(std::unique_ptr<ByteStream> stream, const RecordRules& rules, std::uint64_t offset)
    : stream_(std::move(stream))
    , rules_(rules)
    , buffer_(kFirstBuffer)
    , offset_(offset)
    , csv_(rules.csv)
{
}

Result<bool> RecordReader::next(Record& record)
{
    record = {};
    if (stopped_)
        return false;
    for (;;) {
        std::size_t size = findEnd();
        if (warcBroken_)
            return stop(record, Record::Stop::Broken);
        if (size == kNone && atEnd_) {
            const bool mayEndBlank = rules_.kind == RecordKind::Paragraphs || rules_.kind == RecordKind::Warc;
            if (rules_.kind != RecordKind::JsonElements
                && (available() == 0 || (mayEndBlank && isBlank(available())))) {
                consume(available());
                return false;
            }
            if (rules_.kind == RecordKind::JsonElements || rules_.kind == RecordKind::Warc)
                return stop(record, Record::Stop::Cut);
            size = available();
        }
        if (size == 0 && rules_.kind == RecordKind::JsonElements)
            return endList(record);
        if (size != kNone) {
            if (refusesQuotes())
                return stop(record, Record::Stop::OpenQuote);
            const bool isOne = isRow(size);
            record.bytes = content(size);
            record.sizeBytes = size;
            if (size > kMaxRowBytes) {
                record.tooLong = true;
                record.bytes = {};
            }
            consume(size);
            if (isOne)
                return true;
            record = {};
            continue;
        }
        if (available() > kMaxRowBytes) {
            if (refusesQuotes())
                return stop(record, Record::Stop::OpenQuote);
            const bool isOne = rules_.kind != RecordKind::Warc || isRow(available());
            auto more = skipRest(record);
            if (isOne || !more.ok() || record.stop != Record::Stop::None)
                return more;
            record = {};
            continue;
        }
        FURROW_TRY(refill());
    }
}

bool RecordReader::refusesQuotes() const
{
    return rules_.kind == RecordKind::Csv && rules_.refusesOpenQuotes && (csv_.isOpen() || csv_.isTorn());
}

Result<bool> RecordReader::stop(Record& record, Record::Stop why)
{
    record = {};
    record.stop = why;
    stopped_ = true;
    return true;
}

Result<bool> RecordReader::endList(Record& record)
{
    consume(1); // its bracket
    JsonNesting nesting(rules_.listMembers.size());
    std::string rest; // of which more than may be read is only looked at for its brackets
    for (;;) {
        for (std::size_t i = 0; i < available(); ++i) {
            if (const char c = front()[i]; nesting.depth() == 0 && !isSpace(c)) {
                consume(i);
                return stop(record, c == '[' || c == '{' ? Record::Stop::SecondDocument : Record::Stop::Broken);
            }
            (void)nesting.look(front()[i]);
        }
        rest.append(front(), std::min(available(), kMostAroundJsonList + 1 - rest.size()));
        consume(available());
        if (atEnd_)
            break;
        FURROW_TRY(refill());
    }
    if (nesting.depth() > 0)
        return stop(record, Record::Stop::Cut);
    const auto behind
        = rest.size() > kMostAroundJsonList ? BehindJsonList::Whole : readBehindJsonList(rest, rules_.listMembers);
    if (behind != BehindJsonList::Whole)
        return stop(record, behind == BehindJsonList::NamesItAgain ? Record::Stop::SecondList : Record::Stop::Broken);
    stopped_ = true;
    return false;
}

bool RecordReader::isRow(std::size_t size) const
{
    switch (rules_.kind) {
    case RecordKind::Csv:
    case RecordKind::JsonElements: return !content(size).empty();
    case RecordKind::Warc: return warcText({ front(), size }).has_value();
    default: return true;
    }
}

/// A record that does not fit: its bytes are thrown away piece by piece until its end is found.
Result<bool> RecordReader::skipRest(Record& record)
{
    record.tooLong = true;
    for (;;) {
        record.sizeBytes += available();
        offset_ += available();
        begin_ = end_ = scanned_ = 0;
        FURROW_TRY(refill());
        const std::size_t size = findEnd();
        if (size != kNone) {
            record.sizeBytes += size;
            consume(size);
            return true;
        }
        if (atEnd_ && (rules_.kind == RecordKind::JsonElements || rules_.kind == RecordKind::Warc))
            return stop(record, Record::Stop::Cut);
        if (atEnd_) {
            record.sizeBytes += available();
            consume(available());
            return true;
        }
    }
}

void RecordReader::consume(std::size_t size)
{
    begin_ += size;
    offset_ += size;
    scanned_ = 0;
    csv_ = CsvRecordEnd(rules_.csv);
    element_ = {};
    warcEnd_ = 0;
    paragraphHasText_ = false;
    lineBlank_ = true;
}

Status RecordReader::refill()
{
    if (begin_ > 0) {
        std::memmove(buffer_.data(), front(), available());
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size())
        buffer_.resize(buffer_.size() * 2);
    FURROW_TRY_ASSIGN(auto n, stream_->read(std::span<char>(buffer_).subspan(end_)));
    end_ += n;
    atEnd_ = n == 0;
    return {};
}

std::size_t RecordReader::findEnd()
{
    std::size_t size = kNone;
    switch (rules_.kind) {
    case RecordKind::Lines: size = findLine(); break;
    case RecordKind::Paragraphs: size = findParagraph(); break;
    case RecordKind::Spans: return findSpan();
    case RecordKind::Csv:
        size = csv_.find(front() + scanned_, available() - scanned_);
        size += size == kNone ? 0 : scanned_;
        break;
    case RecordKind::JsonElements:
        size = element_.find(front() + scanned_, available() - scanned_);
        size += size == kNone ? 0 : scanned_;
        break;
    case RecordKind::Warc: return findWarc();
    }
    scanned_ = size == kNone ? available() : size;
    return size;
}

std::size_t RecordReader::findWarc()
{
    if (warcEnd_ == 0) {
        const auto head = warcHead({ front(), available() });
        warcBroken_ = head && head->broken;
        if (!head || head->broken)
            return kNone;
        warcEnd_ = offset_ + head->sizeBytes;
    }
    return warcEnd_ - offset_ <= available() ? static_cast<std::size_t>(warcEnd_ - offset_) : kNone;
}

std::size_t RecordReader::findLine() const
{
    if (available() == scanned_)
        return kNone;
    const auto* found = static_cast<const char*>(std::memchr(front() + scanned_, '\n', available() - scanned_));
    return found == nullptr ? kNone : static_cast<std::size_t>(found - front()) + 1;
}

std::size_t RecordReader::findParagraph()
{
    for (std::size_t i = scanned_; i < available(); ++i) {
        const char c = front()[i];
        if (c != '\n') {
            lineBlank_ = lineBlank_ && isSpace(c);
            continue;
        }
        if (lineBlank_ && paragraphHasText_)
            return i + 1;
        paragraphHasText_ = paragraphHasText_ || !lineBlank_;
        lineBlank_ = true;
    }
    return kNone;
}

/// Span k ends at the first code point at or after (k + 1) * spanBytes, so that any span can be found by arithmetic.
std::size_t RecordReader::findSpan() const
{
    const std::uint64_t target = (offset_ / rules_.spanBytes + 1) * rules_.spanBytes;
    auto size = static_cast<std::size_t>(target - offset_);
    const std::size_t most = size + 3;
    while (size < available() && size < most && isContinuation(front()[size]))
        ++size;
    return size < available() ? size : kNone;
}

bool RecordReader::isBlank(std::size_t size) const { return std::all_of(front(), front() + size, isSpace); }

std::string_view RecordReader::content(std::size_t size) const
{
    std::string_view text(front(), size);
    if (rules_.kind == RecordKind::Spans || rules_.kind == RecordKind::Warc)
        return text;
    if (rules_.kind == RecordKind::JsonElements) {
        const auto element = text.substr(0, text.size() - (text.ends_with(',') ? 1 : 0));
        const auto begin = std::find_if_not(element.begin(), element.end(), isSpace);
        if (begin == element.end())
            return text.ends_with(',')
                ? text.substr(text.size() - 1)
                : std::string_view(); // nothing between two commas is broken JSON, before the bracket it is none
        return { begin, std::find_if_not(element.rbegin(), element.rend(), isSpace).base() };
    }
    if (rules_.kind == RecordKind::Paragraphs) {
        while (!text.empty() && isSpace(text.back()))
            text.remove_suffix(1);
        if (rules_.keepsBlanks) // up to the end of the last line that is not blank
            text = std::string_view(front(), std::min(size, std::string_view(front(), size).find('\n', text.size())));
        if (rules_.keepsBlanks && text.ends_with('\r'))
            text.remove_suffix(1);
        std::size_t first = 0; // of the first line that is not blank
        for (std::size_t i = 0; i < text.size() && isSpace(text[i]); ++i)
            if (text[i] == '\n')
                first = i + 1;
        return text.substr(first);
    }
    if (!text.empty() && text.back() == '\n')
        text.remove_suffix(1);
    if (!text.empty() && text.back() == '\r')
        text.remove_suffix(1);
    return text;
}

} // namespace furrow
