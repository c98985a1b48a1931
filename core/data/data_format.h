#pragma once

#include "core/data/byte_source.h"

#include <string>
#include <string_view>

namespace furrow {

enum class TextFormat { Text, Csv, Tsv, JsonLines, Parquet };
std::string toString(TextFormat format); ///< "text" "csv" "tsv" "jsonl" "parquet"

/// What a file is, found from its content first and its name where the content does not say.
struct FileFormat {
    TextFormat format = TextFormat::Text;
    Compression compression = Compression::None;
    std::int32_t skipBytes = 0; ///< of a byte order mark at the start of the plain text
    bool operator==(const FileFormat&) const = default;
};

/// Looks at the first 64 KiB (expanded). Binary content, UTF-16 and one large JSON array are refused with a sentence.
/// @param name  file name with its extensions; also for messages
/// @param textColumn  the configured one, or ""
Result<FileFormat> detectFormat(const std::shared_ptr<const ByteSource>& source, const std::string& name, const std::string& textColumn);

/// The name says that this is a data file: .txt .csv .tsv .jsonl .ndjson .json .parquet, also with .gz .zst.
bool hasDataExtension(std::string_view name);

/// The plain text of a file from its beginning, whatever its compression; not for Parquet.
std::unique_ptr<ByteStream> plainStream(const std::shared_ptr<const ByteSource>& source, const FileFormat& format, const std::string& name);

} // namespace furrow
