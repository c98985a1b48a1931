#include "core/data/source/csv_dialect.h"

#include "core/config/csv_character.h"
#include "core/data/source/csv_fields.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace furrow {

namespace {

constexpr double kAgreement
    = 0.8; ///< share of records with as many fields as the first that makes a dialect believable

/// How well a dialect explains the beginning of a file.
struct Fit {
    double agreement = 0; ///< share of the records that have as many fields as the first one; 0 when that has one only
    std::ptrdiff_t strays = 0; ///< quotes where no writer leaves one, and lines that an open quote swallows
    bool operator<(const Fit& other) const
    {
        return agreement != other.agreement ? agreement < other.agreement : strays > other.strays;
    }
};

/// Quotes inside a field that has none around it, and closing ones with text behind them.
int strayQuotes(std::string_view record, const CsvDialect& dialect)
{
    CsvRecordEnd end(dialect);
    int strays = 0;
    bool closed = false; // by the character before
    char before = '\0';
    for (const char c : record) {
        const bool wasOpen = end.isOpen();
        end.find(&c, 1);
        const bool inside
            = c == dialect.quote && !wasOpen && !end.isOpen() && (before != dialect.escape || before == '\0');
        const bool behind = closed && c != dialect.quote && c != dialect.delimiter && c != ' ';
        strays += inside || behind ? 1 : 0;
        closed = wasOpen && !end.isOpen();
        before = c;
    }
    return strays;
}

/// The last record may be cut off, and is not counted.
Fit fitOf(std::string_view head, const CsvDialect& dialect)
{
    Fit fit;
    std::size_t fields = 0;
    int same = 0;
    for (int records = 0;;) {
        CsvRecordEnd end(dialect);
        const auto size = end.find(head.data(), head.size());
        if (size == CsvRecordEnd::kNone) {
            fit.strays += std::count(head.begin(), head.end(), '\n');
            break;
        }
        auto record = head.substr(0, size - 1);
        head.remove_prefix(size);
        if (record.ends_with('\r'))
            record.remove_suffix(1);
        if (record.empty())
            continue;
        const auto count = csvFields(record, dialect).size();
        fields = records++ == 0 ? count : fields;
        same += count == fields ? 1 : 0;
        fit.agreement = fields < 2 ? 0 : static_cast<double>(same) / records;
        fit.strays += strayQuotes(record, dialect);
    }
    return fit;
}

struct Choice {
    CsvDialect dialect;
    Fit fit;
};
/// The best of all combinations; among equals the first, which is the usual one.
Choice best(std::string_view head, CsvDialect dialect, std::string_view delimiters, std::string_view escapes)
{
    std::optional<Choice> found;
    for (const char escape : escapes)
        for (const char delimiter : delimiters) {
            dialect.delimiter = delimiter;
            dialect.escape = escape;
            const Fit fit = fitOf(head, dialect);
            if (!found || found->fit < fit)
                found = { dialect, fit };
        }
    return *found;
}

} // namespace

bool endsAtCarriageReturns(std::string_view head, const CsvDialect& dialect)
{
    CsvRecordEnd end(dialect);
    std::string converted(head);
    for (std::size_t i = 0; i + 1 < head.size(); ++i) {
        const bool isEscaped = dialect.escape != '\0' && i > 0 && head[i - 1] == dialect.escape;
        if (head[i] == '\r' && head[i + 1] != '\n' && !isEscaped && !end.isOpen())
            converted[i] = '\n';
        if (end.find(&converted[i], 1) != CsvRecordEnd::kNone)
            end = CsvRecordEnd(dialect);
    }
    return converted != head && fitOf(converted, dialect).agreement >= fitOf(head, dialect).agreement;
}

CsvSeparatorLine separatorLine(std::string_view head)
{
    constexpr std::string_view kSays = "sep=";
    auto line = head.substr(0, head.find('\n'));
    const std::size_t size = line.size() + 1;
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    const bool isOne = size <= head.size() && line.size() == kSays.size() + 1 && line.starts_with(kSays);
    return isOne ? CsvSeparatorLine { size, line.back() } : CsvSeparatorLine {};
}

char laterCsvEscape(std::string_view more, const CsvDialect& dialect, const RunConfig& config)
{
    const std::string quoted { '\\', dialect.quote };
    if (config.csvEscape != "auto" || dialect.escape != '\0' || dialect.quote == '\0'
        || more.find(quoted) == std::string_view::npos)
        return '\0';
    CsvDialect escaped = dialect;
    escaped.escape = '\\';
    return fitOf(more, dialect) < fitOf(more, escaped) ? escaped.escape : '\0';
}

CsvDialect findCsvDialect(std::string_view head, char usual, const RunConfig& config)
{
    CsvDialect chosen;
    chosen.delimiter = csvCharacter(config.csvDelimiter).value_or(usual);
    chosen.quote = csvCharacter(config.csvQuote).value_or('"');
    chosen.escape = csvCharacter(config.csvEscape).value_or('\0');
    chosen.header = config.csvHeader;
    std::string delimiters(1, chosen.delimiter);
    if (config.csvDelimiter == "auto")
        delimiters += ",;\t|";
    std::string escapes(1, chosen.escape);
    if (config.csvEscape == "auto" && chosen.quote != '\0'
        && head.find({ std::string("\\") + chosen.quote }) != std::string_view::npos)
        escapes += '\\';
    const auto found = best(head, chosen, delimiters, escapes);
    return found.fit.agreement >= kAgreement
        ? found.dialect
        : best(head, chosen, std::string_view(delimiters).substr(0, 1), escapes).dialect;
}

} // namespace furrow
