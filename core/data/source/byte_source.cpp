#include "core/data/source/byte_source.h"

#include "core/base/denied.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cstring>
#include <vector>

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
        FURROW_TRY(source_->readAt(offset_, std::as_writable_bytes(into.first(n))));
        offset_ += n;
        return n;
    }
    Result<std::uint64_t> skip(std::uint64_t size) override
    {
        const std::uint64_t n = offset_ < source_->sizeBytes() ? std::min(size, source_->sizeBytes() - offset_) : 0;
        offset_ += n;
        return n;
    }

private:
    std::shared_ptr<const ByteSource> source_;
    std::uint64_t offset_;
};

class Slice : public ByteSource {
public:
    Slice(std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::uint64_t sizeBytes)
        : source_(std::move(source))
        , offset_(offset)
        , sizeBytes_(sizeBytes)
    {
    }
    std::uint64_t sizeBytes() const override { return sizeBytes_; }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        if (offset > sizeBytes_ || into.size() > sizeBytes_ - offset)
            return Error { ErrorCode::Corrupt, sentence("reading after the end of a file inside an archive") };
        return source_->readAt(offset_ + offset, into);
    }

private:
    std::shared_ptr<const ByteSource> source_;
    std::uint64_t offset_;
    std::uint64_t sizeBytes_;
};

class MemorySource : public ByteSource {
public:
    explicit MemorySource(std::string bytes)
        : bytes_(std::move(bytes))
    {
    }
    std::uint64_t sizeBytes() const override { return bytes_.size(); }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        if (offset > bytes_.size() || into.size() > bytes_.size() - offset)
            return Error { ErrorCode::Corrupt, sentence("reading after the end of what is in memory") };
        std::memcpy(into.data(), bytes_.data() + offset, into.size());
        return {};
    }

private:
    std::string bytes_;
};

} // namespace

Result<std::shared_ptr<const ByteSource>> openLocalSource(const std::filesystem::path& path)
{
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found)
        return Error { ErrorCode::NotFound, sentence("%1 does not exist.", { utf8Text(path) }) };
    if (status.type() == std::filesystem::file_type::none) // a share or disk that fails, a folder that is closed
        return Error { ErrorCode::Io, sentence("%1 cannot be opened (%2).", { utf8Text(path), whyNot(path, error) }) };
    if (status.type() != std::filesystem::file_type::regular)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is not a file that can be read.", { utf8Text(path) }) };
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(path));
    return std::shared_ptr<const ByteSource>(std::make_shared<LocalSource>(std::move(file)));
}

Result<std::uint64_t> ByteStream::skip(std::uint64_t size)
{
    std::vector<char> waste(static_cast<std::size_t>(std::min<std::uint64_t>(size, 256 << 10)));
    std::uint64_t skipped = 0;
    while (skipped < size) {
        FURROW_TRY_ASSIGN(auto n,
            read(std::span<char>(waste).first(
                static_cast<std::size_t>(std::min<std::uint64_t>(size - skipped, waste.size())))));
        if (n == 0)
            break;
        skipped += n;
    }
    return skipped;
}

std::shared_ptr<const ByteSource> sliceOf(
    std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::uint64_t sizeBytes)
{
    return std::make_shared<Slice>(std::move(source), offset, sizeBytes);
}

std::shared_ptr<const ByteSource> memorySource(std::string bytes)
{
    return std::make_shared<MemorySource>(std::move(bytes));
}

Result<std::size_t> readFully(ByteStream& stream, std::span<char> into)
{
    std::size_t filled = 0;
    while (filled < into.size()) {
        FURROW_TRY_ASSIGN(auto n, stream.read(into.subspan(filled)));
        if (n == 0)
            break;
        filled += n;
    }
    return filled;
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
