#pragma once

#include "core/data/source/column_path.h"
#include "core/data/source/data_manifest.h"

#include <cstdint>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <string>

namespace furrow {

// The columns of a Parquet file.

bool holdsText(const parquet::ColumnDescriptor& column);
/// The place of a leaf without the helper groups that Parquet puts into lists.
ColumnPath pathOf(const parquet::ColumnDescriptor& column);
/// Index of the text column, or an error. Of columns "a.b" and a with a member b, both are written so by Parquet.
Result<int> findColumn(const parquet::FileMetaData& metadata, const DataFile& file, const std::string& name);
/// How deep a value is defined when the innermost list around it has an element there.
std::int16_t levelOfElements(const parquet::ColumnDescriptor& column);

} // namespace furrow
