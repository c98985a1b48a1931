#pragma once

#include "core/data/source/row_reader.h"

namespace furrow {

// Parquet through Arrow C++: only the footer and the text column are read. In a build without Arrow each of these is
// an InvalidArgument that says so.

Result<FileColumns> readParquetColumns(const std::shared_ptr<const ByteSource>& source, const std::string& name);
/// How much of the file is its text column, 0..1, as stored.
Result<double> parquetShare(
    const std::shared_ptr<const ByteSource>& source, const DataFile& file, const std::string& column);
Result<std::unique_ptr<RowScanner>> openParquetScanner(const std::shared_ptr<const ByteSource>& source,
    const DataFile& file, const RowOptions& options, std::uint64_t position);
Result<std::unique_ptr<RowReader>> openParquetReader(const std::shared_ptr<const ByteSource>& source,
    const DataFile& file, const RowOptions& options, std::uint64_t position);

} // namespace furrow
