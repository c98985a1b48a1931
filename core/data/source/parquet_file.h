#pragma once

#include "core/data/source/byte_source.h"
#include "core/data/source/distant_source.h"

#include <arrow/io/interfaces.h>
#include <exception>
#include <memory>
#include <optional>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <string>

namespace furrow {

// The bytes of a Parquet file, and what its reader throws. Only in builds with Parquet, as parquet_columns.h and
// parquet_pages.h.

/// Lets Arrow read from a ByteSource.
class SourceFile : public arrow::io::RandomAccessFile {
public:
    explicit SourceFile(std::shared_ptr<const ByteSource> source);
    arrow::Status Close() override;
    bool closed() const override { return closed_; }
    arrow::Result<int64_t> Tell() const override { return position_; }
    arrow::Status Seek(int64_t position) override;
    arrow::Result<int64_t> GetSize() override;
    arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override;
    arrow::Result<int64_t> Read(int64_t bytes, void* out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override;
    /// Inside a stretch, and inside the file.
    arrow::Status readIn(const ByteRange& stretch, std::uint64_t position, int64_t bytes, void* out, Need need);
    /// DistantSource::distrust, unless nothing came that could be wrong.
    void distrust(const ByteRange& part, const ByteRange& page) const;
    /// What the source answered when it could not be read. Arrow passes on the words alone, and a hub that is away
    /// would be a damaged file.
    const std::optional<Error>& failure() const { return failure_; }

private:
    arrow::Status asArrow(const Status& status);

    std::shared_ptr<const ByteSource> source_;
    const DistantSource* distant_; ///< the same, or null
    std::optional<Error> failure_;
    int64_t position_ = 0;
    bool closed_ = false;
};

/// What an exception of Parquet means: the source could not be read, else what it holds, or what came of it, is
/// damaged. For its footer: nothing that came is believed.
Error causeOf(const std::exception& e, const SourceFile& bytes, const std::string& name);

/// Rows of a file, counted from 0.
struct ParquetStretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};
/// The same of its rows, where distrusting what came is left to the caller.
/// @param lost  those that are lost, where the others can be read
Error damageOf(const std::exception& e, const SourceFile& bytes, const std::string& name,
    const std::optional<ParquetStretch>& lost = {});

parquet::ReaderProperties parquetProperties();
/// Throws on every damaged footer.
std::shared_ptr<parquet::FileMetaData> readFooter(const std::shared_ptr<SourceFile>& bytes);

} // namespace furrow
