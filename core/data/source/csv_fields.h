#pragma once

#include "core/data/source/csv_dialect.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Finds where a record of csv ends. The record may come in pieces: keeps its state between calls. A plain value.
class CsvRecordEnd {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    explicit CsvRecordEnd(const CsvDialect& dialect)
        : dialect_(dialect)
    {
    }
    /// Looks at bytes behind those of the calls before. @return the size up to and with the line end, or kNone
    std::size_t find(const char* data, std::size_t size);
    /// The bytes so far end inside quotes.
    bool isOpen() const { return state_ == State::Quoted; }
    /// A field in quotes went on over a line end and had more text behind its closing quote: most likely a quote is
    /// missing.
    bool isTorn() const { return torn_; }
    /// A field in quotes had more text behind its closing quote, which is kept as part of the field.
    bool hasTail() const { return tail_; }

private:
    enum class State { FieldStart, Unquoted, Quoted, QuoteSeen, SpaceBehindQuote };
    void look(char c);

    CsvDialect dialect_;
    State state_ = State::FieldStart;
    bool escaped_ = false; ///< the next character is taken as it stands
    bool severalLines_ = false; ///< the field in quotes holds a line end
    bool torn_ = false;
    bool tail_ = false;
};

enum class CsvFit {
    Fits,
    Few, ///< the record ends before the field
    Many, ///< it has text behind the last column: most likely a delimiter inside a text without quotes
};
/// Field `index` of one csv record, unquoted into `out`.
/// @param columns  0: what is behind the field is not looked at
CsvFit csvField(
    std::string_view record, const CsvDialect& dialect, std::size_t index, std::size_t columns, std::string& out);

std::vector<std::string> csvFields(std::string_view record, const CsvDialect& dialect);

} // namespace furrow
