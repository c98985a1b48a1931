#pragma once

#include "core/data/source/row_reader.h"

namespace furrow {

// WebDataset: a tar archive in which consecutive files of one name up to the first dot are one sample, their endings
// being its columns. Text are the endings .txt and .text, and members of .json ("json.caption"); a position is the
// offset of the first header of a sample.

/// The first two files of the archive belong to one sample, as two columns of it.
/// @param tar  expanded
Result<bool> isWebDataset(std::unique_ptr<ByteStream> tar, const std::string& name);

/// The endings and texts of the first 100 samples.
Result<FileColumns> readWebColumns(FileAccess& access, const DataFile& file);
Result<std::unique_ptr<RowScanner>> openWebScanner(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position);
Result<std::unique_ptr<RowReader>> openWebReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position);

} // namespace furrow
