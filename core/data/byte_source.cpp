#include "core/data/byte_source.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

namespace {

class LocalSource : public ByteSource {
public:
    explicit LocalSource(RandomAccessFile file)
        : file_(std::move(file))
    {
    }
    std::uint64_t sizeBytes() const override { return file_.sizeBytes(); }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override { return file_.readAt(offset, into); }

private:
    RandomAccessFile file_;
};

class SourceStream : public ByteStream {
public:
    SourceStream(std::shared_ptr<const ByteSource> source, std::uint64_t offset)
        : source_(std::move(source))
        , offset_(offset)
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        const std::uint64_t size = source_->sizeBytes();
        const std::uint64_t left = offset_ < size ? size - offset_ : 0;
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size()));
        if (n == 0)
            return n;
        const auto status = source_->readAt(offset_, std::as_writable_bytes(into.first(n)));
        if (!status.ok())
            return status.error();
        offset_ += n;
        return n;
    }

private:
    std::shared_ptr<const ByteSource> source_;
    std::uint64_t offset_;
};

} // namespace

Result<std::shared_ptr<const ByteSource>> openLocalSource(const std::filesystem::path& path)
{
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found)
        return Error { ErrorCode::NotFound, sentence("%1 does not exist.", { utf8Text(path) }) };
    if (status.type() != std::filesystem::file_type::regular)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is not a file that can be read.", { utf8Text(path) }) };
    auto file = RandomAccessFile::open(path);
    if (!file.ok())
        return file.error();
    return std::shared_ptr<const ByteSource>(std::make_shared<LocalSource>(std::move(file).value()));
}

std::unique_ptr<ByteStream> streamFrom(std::shared_ptr<const ByteSource> source, std::uint64_t offset)
{
    return std::make_unique<SourceStream>(std::move(source), offset);
}

std::string toString(Compression compression)
{
    static const char* const kNames[] = { "none", "gzip", "zstd", "xz", "bzip2", "deflate" };
    return kNames[static_cast<int>(compression)];
}

} // namespace furrow
