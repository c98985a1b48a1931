#pragma once

#include "core/base/message.h"
#include "core/config/run_config.h"
#include "core/data/source/byte_source.h"
#include "core/data/source/csv_dialect.h"

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

enum class TextFormat { Text, Csv, Tsv, JsonLines, Parquet, JsonList, Warc, Arrow, WebDataset };
inline constexpr TextFormat kTextFormats[]
    = { TextFormat::Text, TextFormat::Csv, TextFormat::Tsv, TextFormat::JsonLines, TextFormat::Parquet,
          TextFormat::JsonList, TextFormat::Warc, TextFormat::Arrow, TextFormat::WebDataset };
std::string toString(TextFormat format); ///< "text" "csv" "tsv" "jsonl" "parquet" "json" "warc" "arrow" "webdataset"

/// Version of the rules by which bytes become rows, frozen with a run. 1: JSON by RFC 8259 with the first of several
/// equal members, csv whose quotes may stay open, fractions in units of 64 KiB or more. 2: JSON as Python reads it,
/// nested columns. 3: a record of csv with text behind its last column cannot be read, paragraphs keep the blanks at
/// their end.
inline constexpr std::int32_t kRowRules = 3;

/// What a file is, found from its content first and its name where the content does not say.
struct FileFormat {
    TextFormat format = TextFormat::Text;
    Compression compression = Compression::None;
    std::int32_t skipBytes
        = 0; ///< of a byte order mark at the start of the plain text, or of the magic of an Arrow file
    std::string encoding; ///< what is converted to UTF-8 (text_encoding.h); "" for what is UTF-8
    bool damagedUtf8
        = false; ///< some bytes are no characters, and no other encoding is likely; not part of what is frozen
    std::string otherEncoding {}; ///< in words, one that is nearly as likely, or ""; not part of what is frozen
    bool endsLinesAtCarriageReturns = false; ///< of text without a line feed; not part of what is frozen
    CsvDialect csv; ///< of csv and tsv
    std::string
        list; ///< of json: where the list of rows is (ColumnPath, without "[]"); "": the document itself is the list
    std::int32_t rules = kRowRules;

    bool isCsv() const { return format == TextFormat::Csv || format == TextFormat::Tsv; }
    /// The plain text is what is stored: any offset is a seek.
    bool isStoredPlain() const { return compression == Compression::None && encoding.empty(); }
    bool operator==(const FileFormat&) const = default;
};

/// Looks at the first 64 KiB (expanded), and for the encoding of a local file at stretches from all over it. Binary
/// content is refused with a sentence.
/// @param name  file name with its extensions; also for messages
/// @param config  what it says of encoding, csv and text column wins
Result<FileFormat> detectFormat(
    const std::shared_ptr<const ByteSource>& source, const std::string& name, const RunConfig& config);

/// Planning reads every row of such a file, and hashes it; of others it reads what they say of themselves.
inline bool hashesPlannedRows(TextFormat format)
{
    return format != TextFormat::Parquet && format != TextFormat::Arrow && format != TextFormat::WebDataset;
}
/// All of a format that decides which rows a file has, for keys and identities.
std::string rowsKey(const FileFormat& format);
/// How a file is read, for people: csv dialect, encoding; one sentence each, nothing for plain UTF-8.
std::vector<Message> readingOf(const FileFormat& format, const std::string& name);

/// The name says that this is a data file: .txt .csv .tsv .jsonl .ndjson .json .parquet .arrow .feather .warc .wet,
/// also with .gz .zst .xz .bz2.
bool hasDataExtension(std::string_view name);
/// Some part of a path inside an archive or a store begins with a dot, as a hidden file or folder does.
bool isHiddenPath(std::string_view name);
/// The last ending of the name behind which only one of a compression stands, in lower case and without its dot:
/// "jsonl" of "a.jsonl.gz".
std::string dataExtension(std::string_view name);
/// By the first 16 bytes.
Compression compressionOf(std::string_view start);
/// The ending of the name that claims a compression, with its dot; "" where none does.
std::string_view packedEnding(std::string_view name);

} // namespace furrow
