#pragma once

#include "core/data/source/row_reader.h"

namespace furrow {

// Arrow streams and files (Feather 2) through Arrow C++: batch by batch, only the text column. Rows are addressed by
// their index. In a build without Arrow each of these is an InvalidArgument that says so.

Result<FileColumns> readArrowColumns(FileAccess& access, const DataFile& file);
Result<std::unique_ptr<RowScanner>> openArrowScanner(FileAccess& access, const DataFile& file, std::uint64_t position);
Result<std::unique_ptr<RowReader>> openArrowReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position);

/// How the bytes of an Arrow file begin; a stream begins with its first message.
inline constexpr std::string_view kArrowFileMagic("ARROW1\0\0", 8);

} // namespace furrow
