#include "core/data/csv_dialect.h"

#include "core/config/csv_character.h"
#include "core/data/csv_fields.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

namespace {

constexpr int kRecords = 500;
constexpr double kAgreement = 0.8; ///< share of records with as many fields as the first that makes a dialect believable

/// The record at the front of `text`, without its line end, and moves behind it. false: none that is whole.
bool takeRecord(std::string_view& text, const CsvDialect& dialect, std::string_view& record)
{
    CsvRecordEnd end(dialect);
    const auto size = end.find(text.data(), text.size());
    if (size == CsvRecordEnd::kNone)
        return false;
    record = text.substr(0, size - 1);
    if (record.ends_with('\r'))
        record.remove_suffix(1);
    text.remove_prefix(size);
    return true;
}

/// Share of the records that have as many fields as the first one; 0 when that has one only.
double agreement(std::string_view head, const CsvDialect& dialect)
{
    std::size_t fields = 0;
    int same = 0;
    int records = 0;
    for (std::string_view record; records < kRecords && takeRecord(head, dialect, record);) {
        if (record.empty())
            continue;
        const auto count = csvFields(record, dialect).size();
        fields = records == 0 ? count : fields;
        same += count == fields ? 1 : 0;
        ++records;
    }
    return fields < 2 ? 0 : static_cast<double>(same) / records;
}

} // namespace

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
    if (config.csvEscape == "auto" && chosen.quote != '\0' && head.find({ std::string("\\") + chosen.quote }) != std::string_view::npos)
        escapes += '\\';
    double best = 0;
    CsvDialect found = chosen;
    for (const char escape : escapes)
        for (const char delimiter : delimiters) {
            CsvDialect candidate = chosen;
            candidate.delimiter = delimiter;
            candidate.escape = escape;
            const double share = agreement(head, candidate);
            if (share > best) { // among equals the first: the usual one
                best = share;
                found = candidate;
            }
        }
    return best >= kAgreement ? found : chosen;
}

} // namespace furrow
