#pragma once

#include "core/data/source/byte_source.h"
#include "core/data/source/csv_fields.h"
#include "core/data/source/json_list.h"

#include <string_view>
#include <vector>

namespace furrow {

/// How plain bytes are cut into rows.
enum class RecordKind {
    Lines, ///< up to '\n'; a '\r' before it is dropped
    Paragraphs, ///< up to a blank line
    Spans, ///< every so many bytes, at a code point
    Csv, ///< a line, but quoted fields may hold line ends; blank lines are no rows
    JsonElements, ///< of a list, from behind its opening bracket
    Warc, ///< records with a text (warc_record.h); others are no rows
};

struct RecordRules {
    RecordKind kind = RecordKind::Lines;
    std::uint64_t spanBytes = 512;
    CsvDialect csv;
    std::vector<std::string> listMembers {}; ///< names that lead to the list of JsonElements (findJsonList)
    bool refusesOpenQuotes = true; ///< a quote of Csv that nothing closes ends the reading
    bool keepsBlanks = true; ///< those at the end of Paragraphs are text
};

/// A row longer than this is skipped and counted as unreadable.
inline constexpr std::uint64_t kMaxRowBytes = 16ull << 20;

struct Record {
    std::string_view bytes; ///< valid until the next call; empty when tooLong
    std::uint64_t sizeBytes = 0; ///< as stored, with its end
    bool tooLong = false;
    /// Not None: nothing is to be read here and behind, because
    enum class Stop {
        None,
        OpenQuote, ///< a quote of csv is never closed, or not where a field ends
        Cut, ///< the bytes end in the middle
        Broken, ///< no element or record can stand here
        SecondList, ///< a member of the list's own name stands behind it
        SecondDocument, ///< the document is over, and another one begins
    };
    Stop stop = Stop::None;
};

/// Cuts a stream into records in bounded memory. Not thread-safe.
class RecordReader {
public:
    /// @param offset  of the first byte of `stream` in the plain text
    RecordReader(std::unique_ptr<ByteStream> stream, const RecordRules& rules, std::uint64_t offset);

    /// false at the definite end.
    Result<bool> next(Record& record);
    /// Offset of the byte after the last record: where another reader can go on.
    std::uint64_t position() const { return offset_; }

private:
    static constexpr std::size_t kNone = CsvRecordEnd::kNone;

    /// Looks at the bytes not looked at yet; the size of the record with its end, or kNone. Keeps its state between
    /// calls.
    std::size_t findEnd();
    std::size_t findLine() const;
    std::size_t findParagraph();
    std::size_t findSpan() const;
    /// The bytes of the row inside a record of `size` bytes at the front of the buffer.
    std::string_view content(std::size_t size) const;
    bool isBlank(std::size_t size) const;
    bool refusesQuotes() const;
    Result<bool> stop(Record& record, Record::Stop why);
    /// At the bracket that closes the list: what follows is the rest of the document around it.
    Result<bool> endList(Record& record);
    std::size_t findWarc();
    /// A record of `size` bytes at the front of the buffer is a row; for Warc its beginning is enough.
    bool isRow(std::size_t size) const;
    Status refill();
    Result<bool> skipRest(Record& record);
    void consume(std::size_t size);
    std::size_t available() const { return end_ - begin_; }
    const char* front() const { return buffer_.data() + begin_; }

    std::unique_ptr<ByteStream> stream_;
    RecordRules rules_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t scanned_ = 0; ///< bytes after begin_ that findEnd has seen
    std::uint64_t offset_ = 0; ///< of begin_
    bool atEnd_ = false;
    bool stopped_ = false; ///< nothing is to be read any more
    // state of findEnd inside one record
    CsvRecordEnd csv_;
    JsonElementEnd element_;
    std::uint64_t warcEnd_ = 0; ///< offset; 0: its head was not read yet
    bool warcBroken_ = false;
    bool paragraphHasText_ = false;
    bool lineBlank_ = true;
};

} // namespace furrow
