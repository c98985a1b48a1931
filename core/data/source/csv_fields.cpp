#include "core/data/source/csv_fields.h"

#include <cstring>

namespace furrow {

namespace {

/// Takes one record apart, field by field.
class FieldReader {
public:
    FieldReader(std::string_view record, const CsvDialect& dialect)
        : record_(record)
        , dialect_(dialect)
        , ends_ { dialect.delimiter, dialect.escape }
        , marks_ { dialect.quote, dialect.escape }
    {
    }
    /// Reads the next field into `out` (may be null) and leaves the rest; false when it was the last.
    bool take(std::string* out)
    {
        if (out != nullptr)
            out->clear();
        if (dialect_.quote != '\0' && !record_.empty() && record_.front() == dialect_.quote)
            takeQuoted(out);
        for (;;) { // what follows a closing quote is kept, as other readers do
            const auto end = find(ends_);
            if (out != nullptr)
                out->append(record_.substr(0, end));
            if (end == std::string_view::npos) {
                record_ = {};
                return false;
            }
            const bool escape = record_[end] == dialect_.escape && dialect_.escape != '\0';
            record_.remove_prefix(end + 1);
            if (!escape)
                return true;
            takeOne(out);
        }
    }

private:
    /// The first of two characters; the second counts only when it is none of '\0'.
    std::size_t find(const char (&wanted)[2]) const
    {
        return record_.find_first_of(std::string_view(wanted, wanted[1] == '\0' ? 1 : 2));
    }
    void takeOne(std::string* out)
    {
        if (record_.empty())
            return;
        if (out != nullptr)
            out->push_back(record_.front());
        record_.remove_prefix(1);
    }
    void takeQuoted(std::string* out)
    {
        record_.remove_prefix(1);
        for (;;) {
            const auto mark = find(marks_);
            if (out != nullptr)
                out->append(record_.substr(0, mark));
            if (mark == std::string_view::npos) {
                record_ = {};
                return;
            }
            const bool quote = record_[mark] == dialect_.quote;
            record_.remove_prefix(mark + 1);
            if (quote && (record_.empty() || record_.front() != dialect_.quote))
                return;
            takeOne(out); // what was escaped, or the second of two quotes
        }
    }

    std::string_view record_;
    const CsvDialect& dialect_;
    const char ends_[2];
    const char marks_[2];
};

} // namespace

void CsvRecordEnd::look(char c)
{
    if (escaped_) {
        escaped_ = false;
        return;
    }
    if (c == dialect_.escape && dialect_.escape != '\0') {
        escaped_ = true;
        state_ = state_ == State::FieldStart ? State::Unquoted : state_;
    } else if (c == dialect_.quote && dialect_.quote != '\0'
        && (state_ == State::FieldStart || state_ == State::QuoteSeen)) {
        severalLines_ = severalLines_ && state_ == State::QuoteSeen;
        state_ = State::Quoted;
    } else if (c == dialect_.delimiter) {
        state_ = State::FieldStart;
    } else {
        const bool isBehind = state_ == State::QuoteSeen && c != ' ' && c != '\r';
        const bool isBehindSpace = state_ == State::SpaceBehindQuote && c != ' ' && c != '\r';
        tail_ = tail_ || isBehind || isBehindSpace;
        torn_ = torn_ || (isBehind && severalLines_);
        const bool isStillSpace = c == ' ' && (state_ == State::QuoteSeen || state_ == State::SpaceBehindQuote);
        state_ = isStillSpace ? State::SpaceBehindQuote : State::Unquoted;
    }
}

std::size_t CsvRecordEnd::find(const char* data, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) {
        if (state_ != State::Quoted || escaped_) {
            if (data[i] == '\n' && state_ != State::Quoted && !escaped_)
                return i + 1;
            look(data[i]);
            continue;
        }
        const char* begin = data + i;
        const std::size_t left = size - i;
        const auto* mark = static_cast<const char*>(std::memchr(begin, dialect_.quote, left));
        if (dialect_.escape != '\0')
            if (const auto* escape = static_cast<const char*>(std::memchr(
                    begin, dialect_.escape, mark != nullptr ? static_cast<std::size_t>(mark - begin) : left)))
                mark = escape;
        const std::size_t inside = mark != nullptr ? static_cast<std::size_t>(mark - begin) : left;
        severalLines_ = severalLines_ || std::memchr(begin, '\n', inside) != nullptr;
        if (mark == nullptr)
            return kNone;
        i += inside;
        if (*mark == dialect_.quote)
            state_ = State::QuoteSeen;
        else
            escaped_ = true;
    }
    return kNone;
}

CsvFit csvField(
    std::string_view record, const CsvDialect& dialect, std::size_t index, std::size_t columns, std::string& out)
{
    FieldReader reader(record, dialect);
    for (std::size_t i = 0; i < index; ++i)
        if (!reader.take(nullptr))
            return CsvFit::Few;
    bool more = reader.take(&out);
    std::string behind;
    for (std::size_t i = index + 1; more && columns > 0; ++i) {
        more = reader.take(i < columns ? nullptr : &behind);
        if (!behind.empty())
            return CsvFit::Many;
    }
    return CsvFit::Fits;
}

std::vector<std::string> csvFields(std::string_view record, const CsvDialect& dialect)
{
    FieldReader reader(record, dialect);
    std::vector<std::string> fields;
    bool more = true;
    while (more) {
        fields.emplace_back();
        more = reader.take(&fields.back());
    }
    return fields;
}

} // namespace furrow
