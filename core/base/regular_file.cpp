#include "core/base/regular_file.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <array>
#include <optional>
#include <streambuf>

namespace furrow {

Status refuseIrregular(const std::filesystem::path& path)
{
    std::error_code absent;
    const auto type = std::filesystem::status(path, absent).type();
    if (type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular
        || type == std::filesystem::file_type::none)
        return {};
    return irregular(path, type == std::filesystem::file_type::directory);
}

Error irregular(const std::filesystem::path& path, bool isFolder)
{
    const auto what = isFolder ? sentence("it is a folder")
        : isLink(path)         ? sentence("it is a link")
                               : sentence("it is not a regular file");
    return { ErrorCode::Io,
        sentence("cannot open %1: %2. Remove it, or ask who made it to.", { utf8Text(path), what }) };
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : handle_(other.release())
{
}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept
{
    std::swap(handle_, other.handle_);
    return *this;
}

class RegularFileStream::Buffer final : public std::streambuf {
public:
    explicit Buffer(const std::filesystem::path& path)
    {
        if (auto opened = RandomAccessFile::open(path); opened.ok())
            file_.emplace(std::move(opened).value());
    }
    bool isOpen() const { return file_.has_value(); }

protected:
    int_type underflow() override
    {
        if (!file_ || next_ >= file_->sizeBytes())
            return traits_type::eof();
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_.size(), file_->sizeBytes() - next_));
        if (!file_->readAt(next_, std::as_writable_bytes(std::span(bytes_).first(size))).ok())
            return traits_type::eof(); // it became shorter, or its disk fails
        next_ += size;
        setg(bytes_.data(), bytes_.data(), bytes_.data() + size);
        return traits_type::to_int_type(bytes_.front());
    }

    pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override
    {
        if (!file_)
            return pos_type(off_type(-1));
        const auto here = static_cast<off_type>(next_) - (egptr() - gptr());
        const auto base = from == std::ios_base::beg ? 0
            : from == std::ios_base::cur             ? here
                                                     : static_cast<off_type>(file_->sizeBytes());
        if (base + offset < 0)
            return pos_type(off_type(-1));
        if (base + offset != here) {
            next_ = static_cast<std::uint64_t>(base + offset);
            setg(nullptr, nullptr, nullptr);
        }
        return pos_type(base + offset);
    }

    pos_type seekpos(pos_type place, std::ios_base::openmode which) override
    {
        return seekoff(off_type(place), std::ios_base::beg, which);
    }

private:
    std::optional<RandomAccessFile> file_;
    std::uint64_t next_ = 0; ///< of the file, behind what bytes_ holds
    std::array<char, 1 << 16> bytes_;
};

RegularFileStream::RegularFileStream(const std::filesystem::path& path)
    : std::istream(nullptr)
    , buffer_(std::make_unique<Buffer>(path))
{
    rdbuf(buffer_.get());
    if (!buffer_->isOpen())
        setstate(std::ios_base::failbit);
}

RegularFileStream::~RegularFileStream() = default;

} // namespace furrow
