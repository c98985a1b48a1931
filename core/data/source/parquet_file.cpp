#include "core/data/source/parquet_file.h"

#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"

#include <algorithm>
#include <arrow/buffer.h>
#include <parquet/file_reader.h>
#include <span>
#include <utility>

namespace furrow {

namespace {

std::span<std::byte> bytesAt(void* out, int64_t bytes)
{
    return { static_cast<std::byte*>(out), static_cast<std::size_t>(bytes) };
}

} // namespace

SourceFile::SourceFile(std::shared_ptr<const ByteSource> source)
    : source_(std::move(source))
    , distant_(dynamic_cast<const DistantSource*>(source_.get()))
{
    set_mode(arrow::io::FileMode::READ);
}

arrow::Status SourceFile::Close()
{
    closed_ = true;
    return arrow::Status::OK();
}

arrow::Status SourceFile::Seek(int64_t position)
{
    position_ = position;
    return arrow::Status::OK();
}

arrow::Result<int64_t> SourceFile::GetSize() { return static_cast<int64_t>(source_->sizeBytes()); }

arrow::Result<int64_t> SourceFile::ReadAt(int64_t position, int64_t bytes, void* out)
{
    const auto size = static_cast<int64_t>(source_->sizeBytes());
    const int64_t n = std::clamp<int64_t>(size - position, 0, bytes);
    ARROW_RETURN_NOT_OK(asArrow(source_->readAt(static_cast<std::uint64_t>(position), bytesAt(out, n))));
    return n;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::ReadAt(int64_t position, int64_t bytes)
{
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(bytes));
    ARROW_ASSIGN_OR_RAISE(const int64_t n, ReadAt(position, bytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(n, false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> SourceFile::Read(int64_t bytes, void* out)
{
    ARROW_ASSIGN_OR_RAISE(const int64_t n, ReadAt(position_, bytes, out));
    position_ += n;
    return n;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::Read(int64_t bytes)
{
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, bytes));
    position_ += buffer->size();
    return buffer;
}

arrow::Status SourceFile::readIn(const ByteRange& stretch, std::uint64_t position, int64_t bytes, void* out, Need need)
{
    return asArrow(distant_ != nullptr ? distant_->readIn(stretch, position, bytesAt(out, bytes), need)
                                       : source_->readAt(position, bytesAt(out, bytes)));
}

void SourceFile::distrust(const ByteRange& part, const ByteRange& page) const
{
    if (distant_ != nullptr && !failure_)
        distant_->distrust(part, page);
}

arrow::Status SourceFile::asArrow(const Status& status)
{
    if (status.ok())
        return arrow::Status::OK();
    failure_ = status.error();
    return arrow::Status::IOError(failure_->message);
}

Error causeOf(const std::exception& e, const SourceFile& bytes, const std::string& name)
{
    bytes.distrust(kWholeFile, kWholeFile);
    return damageOf(e, bytes, name);
}

Error damageOf(const std::exception& e, const SourceFile& bytes, const std::string& name,
    const std::optional<ParquetStretch>& lost)
{
    if (bytes.failure())
        return *bytes.failure();
    if (!lost)
        return { ErrorCode::Corrupt,
            sentence("%1 cannot be read as Parquet (%2). Fetch or write it again.", { name, e.what() }) };
    return { ErrorCode::Corrupt,
        sentence("%1 cannot be read as Parquet in its rows %2 to %3, counted from 0 (%4). Fetch or write it again.",
            { name, std::to_string(lost->begin), std::to_string(lost->end - 1), e.what() }) };
}

parquet::ReaderProperties parquetProperties()
{
    parquet::ReaderProperties properties;
    properties.set_page_checksum_verification(true);
    return properties;
}

std::shared_ptr<parquet::FileMetaData> readFooter(const std::shared_ptr<SourceFile>& bytes)
{
    auto properties = parquetProperties();
    const auto size = static_cast<std::uint64_t>(bytes->GetSize().ValueOrDie());
    properties.set_footer_read_size(size - tailOffset(size));
    return parquet::ParquetFileReader::Open(bytes, properties)->metadata();
}

} // namespace furrow
