#pragma once

#include "core/data/source/parquet_file.h"

#include <cstdint>
#include <memory>
#include <optional>
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
    /// Where the page lies that was read last, or could not be read.
    ByteRange page() const;
    /// How many of the rows that are not wanted come nevertheless, because they are in the same page.
    std::uint64_t rowsToSkip() const { return rowsToSkip_; }
    /// Rows of the row group up to the end of the page that was read last; 0: its pages do not say.
    std::uint64_t rowsThrough() const { return rowsThrough_.value_or(0); }
    /// Values, and places without one, of the pages that were read and not jumped over.
    std::uint64_t valuesRead() const { return valuesRead_; }
    /// A row never goes on in the next page, and rowsThrough() is known.
    bool endRows() const;

private:
    std::optional<std::uint64_t> rowsOf(const parquet::DataPageStats& page) const;
    bool jumpsOver(const parquet::DataPageStats& page);

    const parquet::FileMetaData& metadata_;
    std::unique_ptr<parquet::ColumnChunkMetaData> chunk_;
    const parquet::ColumnDescriptor& descr_;
    ByteRange place_;
    std::uint64_t rowsToSkip_;
    std::optional<std::uint64_t> rowsThrough_ = 0;
    std::uint64_t valuesRead_ = 0;
    bool jumps_ = true;
    std::shared_ptr<StretchStream> stream_;
};

} // namespace furrow
