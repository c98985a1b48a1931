#pragma once

#include "core/data/source/parquet_file.h"

#include <cstdint>
#include <memory>
#include <parquet/column_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

namespace furrow {

class StretchStream;

/// The pages of a column of a row group from the first that holds a wanted row. What it does throws as Parquet does.
class ColumnPages {
public:
    ColumnPages(std::shared_ptr<SourceFile> file, const parquet::FileMetaData& metadata, int group, int column,
        std::uint64_t rowsToSkip);
    /// Lives no longer than this.
    std::unique_ptr<parquet::PageReader> open();
    const ByteRange& place() const { return place_; }
    /// How many of the rows that are not wanted come nevertheless, because they are in the same page.
    std::uint64_t rowsToSkip() const { return rowsToSkip_; }

private:
    bool jumpsOver(const parquet::DataPageStats& page);

    const parquet::FileMetaData& metadata_;
    std::unique_ptr<parquet::ColumnChunkMetaData> chunk_;
    const parquet::ColumnDescriptor& descr_;
    ByteRange place_;
    std::uint64_t rowsToSkip_;
    bool jumps_ = true;
    std::shared_ptr<StretchStream> stream_;
};

} // namespace furrow
