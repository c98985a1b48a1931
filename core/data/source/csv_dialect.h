#pragma once

#include "core/config/run_config.h"

#include <string>
#include <string_view>

namespace furrow {

/// How the records of a csv file are written.
struct CsvDialect {
    char delimiter = ',';
    char quote = '"'; ///< '\0': none
    char escape
        = '\0'; ///< takes the meaning from the character behind it; '\0': none. A doubled quote is a quote in any case
    bool header = true; ///< the first record names the columns
    bool operator==(const CsvDialect&) const = default;
};

/// The dialect of a file, where the settings leave it open: the delimiter that cuts the first records into equally many
/// fields, and a backslash as escape where it stands before quotes that are out of place without it.
/// @param head  the beginning of the text; the last record may be cut off
/// @param usual  the delimiter that the ending of the name promises
CsvDialect findCsvDialect(std::string_view head, char usual, const RunConfig& config);

/// An escape that first occurs behind the head: a backslash, where quotes are out of place without it and fewer are
/// with it. '\0': none, or the settings say which.
/// @param more  a longer beginning of the text; the last record may be cut off
char laterCsvEscape(std::string_view more, const CsvDialect& dialect, const RunConfig& config);

/// "sep=;" as the first line says the delimiter to spreadsheets, and is no record.
struct CsvSeparatorLine {
    std::size_t sizeBytes = 0; ///< with its end; 0: there is none
    char delimiter = '\0';
};
CsvSeparatorLine separatorLine(std::string_view head);

/// Outside of quotes carriage returns stand alone, and records that end there are as alike as those that do not: other
/// readers end them there.
bool endsAtCarriageReturns(std::string_view head, const CsvDialect& dialect);

} // namespace furrow
