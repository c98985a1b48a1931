#include "core/data/source/parquet_pages.h"

#include <algorithm>
#include <arrow/buffer.h>
#include <arrow/util/config.h>
#include <cstring>
#include <parquet/exception.h>
#include <string_view>
#include <utility>

namespace furrow {

namespace {

/// Where the pages of a column of a row group lie, as Arrow finds them.
ByteRange columnStretch(
    const parquet::FileMetaData& metadata, const parquet::ColumnChunkMetaData& chunk, std::uint64_t fileBytes)
{
    int64_t begin = chunk.data_page_offset();
    if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0 && chunk.dictionary_page_offset() < begin)
        begin = chunk.dictionary_page_offset();
    const int64_t size = chunk.total_compressed_size();
    if (begin < 0 || size < 0 || static_cast<std::uint64_t>(begin) > fileBytes
        || static_cast<std::uint64_t>(size) > fileBytes - static_cast<std::uint64_t>(begin))
        throw parquet::ParquetException("a column lies outside of the file");
    ByteRange stretch { static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(size) };
    constexpr std::uint64_t kForgottenHeader = 100; // of a dictionary, which early writers in Java did not count
    if (metadata.writer_version().VersionLt(parquet::ApplicationVersion::PARQUET_816_FIXED_VERSION()))
        stretch.sizeBytes += std::min(kForgottenHeader, fileBytes - stretch.end());
    return stretch;
}

} // namespace

/// The bytes of a stretch one after the other, fetched some pages ahead, and not at all where they are jumped over.
class StretchStream : public arrow::io::InputStream {
public:
    StretchStream(std::shared_ptr<SourceFile> file, const ByteRange& stretch, bool jumps)
        : file_(std::move(file))
        , stretch_(stretch)
        , jumps_(jumps)
        , position_(stretch.offset)
        , pageBegin_(stretch.offset)
    {
        set_mode(arrow::io::FileMode::READ);
    }
    /// The next bytes that are read are not looked at.
    void jumpOverNext() { jumpNext_ = true; }
    /// What is read from now on is looked at.
    void endJumps() { jumps_ = false; }
    /// From the header that was looked at last to what was read behind it.
    ByteRange page() const { return { pageBegin_, std::max(position_ - pageBegin_, kLittle) }; }

    arrow::Status Close() override { return arrow::Status::OK(); }
    bool closed() const override { return false; }
    arrow::Result<int64_t> Tell() const override { return static_cast<int64_t>(position_ - stretch_.offset); }
    /// May give less than is asked for while pages are jumped over: who finds no whole header in it asks again.
    arrow::Result<std::string_view> Peek(int64_t bytes) override
    {
        pageBegin_ = position_;
        const auto wanted = std::min<std::uint64_t>(static_cast<std::uint64_t>(bytes), stretch_.end() - position_);
        if (jumps_ && here() < wanted) {
            const bool isAgain = peekedAt_ == position_ && here() >= std::min(wanted, peekBytes_);
            peekBytes_ = isAgain ? 4 * peekBytes_ : kLittle;
            peekedAt_ = position_;
            if (here() < peekBytes_)
                ARROW_RETURN_NOT_OK(fill(std::min(wanted, peekBytes_), Need::Little));
        } else if (here() < wanted) {
            ARROW_RETURN_NOT_OK(fill(wanted, Need::Stretch));
        }
        return std::string_view(reinterpret_cast<const char*>(at()), std::min(wanted, here()));
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override
    {
        const auto n = std::min<std::uint64_t>(static_cast<std::uint64_t>(bytes), stretch_.end() - position_);
        if (std::exchange(jumpNext_, false)) {
            position_ += n;
            return std::make_shared<arrow::Buffer>(nullptr, 0);
        }
        if (here() < n)
            ARROW_RETURN_NOT_OK(fill(n, Need::Stretch));
        auto part
            = arrow::SliceBuffer(window_, static_cast<int64_t>(position_ - windowBegin_), static_cast<int64_t>(n));
        position_ += n;
        return part;
    }
    arrow::Result<int64_t> Read(int64_t bytes, void* out) override
    {
        ARROW_ASSIGN_OR_RAISE(const auto part, Read(bytes));
        std::memcpy(out, part->data(), static_cast<std::size_t>(part->size()));
        return part->size();
    }

private:
    static constexpr std::uint64_t kLittle = 512; ///< holds most headers
    static constexpr std::uint64_t kFirstStep = 2ull << 20;
    static constexpr std::uint64_t kLastStep = 8ull << 20;

    /// Bytes at hand.
    std::uint64_t here() const
    {
        const bool isInside = window_ && position_ >= windowBegin_
            && position_ < windowBegin_ + static_cast<std::uint64_t>(window_->size());
        return isInside ? windowBegin_ + static_cast<std::uint64_t>(window_->size()) - position_ : 0;
    }
    const std::uint8_t* at() const { return here() > 0 ? window_->data() + (position_ - windowBegin_) : nullptr; }
    /// Has at least so many at hand, by a step ahead where all of the stretch is needed.
    arrow::Status fill(std::uint64_t least, Need need)
    {
        const std::uint64_t had = here();
        std::uint64_t size = least;
        if (need == Need::Stretch) {
            size = std::min(std::max(least, had + step_), stretch_.end() - position_);
            step_ = std::min(2 * step_, kLastStep);
        }
        ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> next, arrow::AllocateBuffer(static_cast<int64_t>(size)));
        if (had > 0)
            std::memcpy(next->mutable_data(), at(), static_cast<std::size_t>(had));
        ARROW_RETURN_NOT_OK(file_->readIn(
            stretch_, position_ + had, static_cast<int64_t>(size - had), next->mutable_data() + had, need));
        window_ = std::move(next); // pages that were given keep the former one
        windowBegin_ = position_;
        return arrow::Status::OK();
    }

    std::shared_ptr<SourceFile> file_;
    ByteRange stretch_;
    bool jumps_;
    bool jumpNext_ = false;
    std::uint64_t position_;
    std::uint64_t pageBegin_;
    std::uint64_t peekedAt_ = UINT64_MAX;
    std::uint64_t peekBytes_ = kLittle;
    std::uint64_t step_ = kFirstStep;
    std::shared_ptr<arrow::Buffer> window_;
    std::uint64_t windowBegin_ = 0;
};

ColumnPages::ColumnPages(std::shared_ptr<SourceFile> file, const parquet::FileMetaData& metadata, int group, int column,
    std::uint64_t rowsToSkip)
    : metadata_(metadata)
    , chunk_(metadata.RowGroup(group)->ColumnChunk(column))
    , descr_(*metadata.schema()->Column(column))
    , rowsToSkip_(rowsToSkip)
{
    if (chunk_->crypto_metadata())
        throw parquet::ParquetException("its text column is encrypted");
    const auto size = static_cast<std::uint64_t>(file->GetSize().ValueOrDie());
    place_ = columnStretch(metadata, *chunk_, size);
    stream_ = std::make_shared<StretchStream>(std::move(file), place_, rowsToSkip > 0);
}

std::unique_ptr<parquet::PageReader> ColumnPages::open()
{
    const bool alwaysCompressed
        = metadata_.writer_version().VersionLt(parquet::ApplicationVersion::PARQUET_CPP_10353_FIXED_VERSION());
    auto pages = parquet::PageReader::Open(
        stream_, chunk_->num_values(), chunk_->compression(), parquetProperties(), descr_, alwaysCompressed);
    pages->set_data_page_filter([this](const parquet::DataPageStats& page) { return jumpsOver(page); });
    return pages;
}

ByteRange ColumnPages::page() const { return stream_->page(); }

/// Of a list older pages do not say it.
std::optional<std::uint64_t> ColumnPages::rowsOf(const parquet::DataPageStats& page) const
{
    const bool isFlat = descr_.max_repetition_level() == 0;
    const int64_t rows = isFlat || page.num_values == 0 ? page.num_values : page.num_rows.value_or(-1);
    return rows < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(rows));
}

/// The format asks it of pages that say how many rows they have; Arrow's writer, parquet-cpp before, did not do so
/// before its version 12.
bool ColumnPages::endRows() const
{
    static const parquet::ApplicationVersion kFirstToDo("parquet-cpp-arrow", 12, 0, 0);
    const parquet::ApplicationVersion& writer = metadata_.writer_version();
    return rowsThrough_ && writer.application_ != "parquet-cpp" && !writer.VersionLt(kFirstToDo);
}

bool ColumnPages::jumpsOver(const parquet::DataPageStats& page)
{
    const auto rows = rowsOf(page);
    rowsThrough_ = rowsThrough_ && rows ? std::optional(*rowsThrough_ + *rows) : std::nullopt;
    if (page.num_values == 0) // Arrow's writer makes such, and its reader takes them for the end of the column
        return true;
    jumps_ = jumps_ && rows && rowsToSkip_ > 0 && *rows <= rowsToSkip_;
    if (!jumps_) {
        stream_->endJumps();
        valuesRead_ += static_cast<std::uint64_t>(std::max<int64_t>(page.num_values, 0));
        return false;
    }
    rowsToSkip_ -= *rows;
    stream_->jumpOverNext();
    return true;
}

} // namespace furrow
