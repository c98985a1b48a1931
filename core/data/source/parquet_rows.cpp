// The text column of Parquet files. Rows are addressed by their index in the file; a row group is entered by skipping
// inside it, never by reading the ones before.

#include "core/data/source/parquet_rows.h"

#include "core/base/sentence.h"
#include "core/chat/row_problems.h"

#if FURROW_WITH_PARQUET

#include "core/data/source/column_path.h"
#include "core/data/source/distant_source.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/source/row_choice.h"

#include <algorithm>
#include <functional>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/config.h>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kBatchRows = 1024;
constexpr const char* kShortGroup = "a row group has fewer rows than its footer says";

/// Lets Arrow read from a ByteSource.
class SourceFile : public arrow::io::RandomAccessFile {
public:
    explicit SourceFile(std::shared_ptr<const ByteSource> source)
        : source_(std::move(source))
        , distant_(dynamic_cast<const DistantSource*>(source_.get()))
    {
        set_mode(arrow::io::FileMode::READ);
    }
    arrow::Status Close() override
    {
        closed_ = true;
        return arrow::Status::OK();
    }
    bool closed() const override { return closed_; }
    arrow::Result<int64_t> Tell() const override { return position_; }
    arrow::Status Seek(int64_t position) override
    {
        position_ = position;
        return arrow::Status::OK();
    }
    arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(source_->sizeBytes()); }
    arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override
    {
        const auto size = static_cast<int64_t>(source_->sizeBytes());
        const int64_t n = std::clamp<int64_t>(size - position, 0, bytes);
        ARROW_RETURN_NOT_OK(asArrow(source_->readAt(static_cast<std::uint64_t>(position), bytesAt(out, n))));
        return n;
    }
    /// Inside a stretch, and inside the file.
    arrow::Status readIn(const ByteRange& stretch, std::uint64_t position, int64_t bytes, void* out, Need need)
    {
        return asArrow(distant_ != nullptr ? distant_->readIn(stretch, position, bytesAt(out, bytes), need)
                                           : source_->readAt(position, bytesAt(out, bytes)));
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override
    {
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(bytes));
        ARROW_ASSIGN_OR_RAISE(const int64_t n, ReadAt(position, bytes, buffer->mutable_data()));
        ARROW_RETURN_NOT_OK(buffer->Resize(n, false));
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }
    arrow::Result<int64_t> Read(int64_t bytes, void* out) override
    {
        ARROW_ASSIGN_OR_RAISE(const int64_t n, ReadAt(position_, bytes, out));
        position_ += n;
        return n;
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override
    {
        ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, bytes));
        position_ += buffer->size();
        return buffer;
    }
    void distrust(const ByteRange& part) const
    {
        if (distant_ != nullptr)
            distant_->distrust(part);
    }
    /// What the source answered when it could not be read. Arrow passes on the words alone, and a hub that is away
    /// would be a damaged file.
    const std::optional<Error>& failure() const { return failure_; }

private:
    static std::span<std::byte> bytesAt(void* out, int64_t bytes)
    {
        return { static_cast<std::byte*>(out), static_cast<std::size_t>(bytes) };
    }
    arrow::Status asArrow(const Status& status)
    {
        if (status.ok())
            return arrow::Status::OK();
        failure_ = status.error();
        return arrow::Status::IOError(failure_->message);
    }

    std::shared_ptr<const ByteSource> source_;
    const DistantSource* distant_; ///< the same, or null
    std::optional<Error> failure_;
    int64_t position_ = 0;
    bool closed_ = false;
};

Error damaged(const std::string& name, const std::string& why)
{
    return { ErrorCode::Corrupt,
        sentence("%1 cannot be read as Parquet (%2). Fetch or write it again.", { name, why }) };
}

/// What an exception of Parquet means: the source could not be read, else what it holds, or what came of it, is
/// damaged.
/// @param part  of the file was read
Error causeOf(const std::exception& e, const SourceFile& bytes, const std::string& name, const ByteRange& part)
{
    if (bytes.failure())
        return *bytes.failure();
    bytes.distrust(part);
    return damaged(name, e.what());
}

/// The same while the footer was read.
Error causeOf(const std::exception& e, const SourceFile& bytes, const std::string& name)
{
    return causeOf(e, bytes, name, { 0, UINT64_MAX });
}

parquet::ReaderProperties readerProperties()
{
    parquet::ReaderProperties properties;
    properties.set_page_checksum_verification(true);
    return properties;
}

std::shared_ptr<parquet::FileMetaData> readFooter(const std::shared_ptr<SourceFile>& bytes)
{
    auto properties = readerProperties();
    const auto size = static_cast<std::uint64_t>(bytes->GetSize().ValueOrDie());
    properties.set_footer_read_size(size - tailOffset(size));
    return parquet::ParquetFileReader::Open(bytes, properties)->metadata();
}

bool holdsText(const parquet::ColumnDescriptor& column)
{
    if (column.physical_type() != parquet::Type::BYTE_ARRAY)
        return false;
    const auto& logical = column.logical_type();
    return !logical || logical->is_none() || logical->is_string() || logical->is_JSON() || logical->is_enum();
}

bool isList(const parquet::schema::Node& node)
{
    return (node.logical_type() && node.logical_type()->is_list())
        || node.converted_type() == parquet::ConvertedType::LIST;
}

/// The repeated part of a list has one member, which is the element, in the layout of today; in older ones it is the
/// element.
bool wrapsElement(const parquet::schema::Node& repeated)
{
    if (!repeated.is_group() || repeated.name() == "array" || repeated.name().ends_with("_tuple"))
        return false;
    return static_cast<const parquet::schema::GroupNode&>(repeated).field_count() == 1;
}

/// The place of a leaf without the helper groups that Parquet puts into lists.
ColumnPath pathOf(const parquet::ColumnDescriptor& column)
{
    std::vector<const parquet::schema::Node*> nodes; // from the root down, without it
    for (const auto* node = column.schema_node().get(); node->parent() != nullptr; node = node->parent())
        nodes.insert(nodes.begin(), node);
    ColumnPath path;
    bool isElement = false; // of a list: its name says nothing
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!isElement)
            path = path.member(nodes[i]->name());
        isElement = false;
        if (isList(*nodes[i]) && i + 1 < nodes.size() && nodes[i + 1]->is_repeated()) {
            path = path.each();
            isElement = wrapsElement(*nodes[++i]);
        } else if (nodes[i]->is_repeated()) {
            path = path.each();
        }
    }
    return path;
}

/// Index of the text column, or an error. Of columns "a.b" and a with a member b, both are written so by Parquet.
Result<int> findColumn(const parquet::FileMetaData& metadata, const DataFile& file, const std::string& name)
{
    const auto isPath = [&](const parquet::ColumnDescriptor& column) { return pathOf(column).text() == name; };
    const auto isWrittenSo = [&](const parquet::ColumnDescriptor& column) {
        return column.max_repetition_level() == 0 && column.path()->ToDotString() == name;
    };
    for (const auto& fits :
        std::initializer_list<std::function<bool(const parquet::ColumnDescriptor&)>> { isPath, isWrittenSo }) {
        for (int i = 0; i < metadata.schema()->num_columns(); ++i) {
            const auto* column = metadata.schema()->Column(i);
            if (!fits(*column))
                continue;
            if (!holdsText(*column))
                return Error { ErrorCode::InvalidArgument,
                    sentence("%1: the column '%2' holds no text.", { file.path, name }) };
            return i;
        }
    }
    return Error { ErrorCode::InvalidArgument, sentence("%1 has no column '%2'.", { file.path, name }) };
}

class ParquetScanner : public RowScanner {
public:
    ParquetScanner(const parquet::FileMetaData& metadata, int column, std::uint64_t position)
        : row_(position)
    {
        std::uint64_t end = 0;
        for (int g = 0; g < metadata.num_row_groups(); ++g) {
            const auto group = metadata.RowGroup(g);
            const auto rows = static_cast<std::uint64_t>(std::max<int64_t>(group->num_rows(), 0));
            end += rows;
            const auto bytes = std::max<int64_t>(group->ColumnChunk(column)->total_uncompressed_size(), 0);
            groups_.push_back({ end, rows == 0 ? 0 : static_cast<std::uint64_t>(bytes) / rows });
        }
        while (group_ < groups_.size() && groups_[group_].end <= row_)
            ++group_;
    }
    Result<bool> next(std::uint64_t& sizeBytes) override
    {
        while (group_ < groups_.size() && row_ >= groups_[group_].end)
            ++group_;
        if (group_ == groups_.size())
            return false;
        sizeBytes = groups_[group_].meanBytes;
        ++row_;
        return true;
    }
    std::uint64_t position() const override { return row_; }
    std::uint64_t unit() const override
    {
        const std::uint64_t first = group_ == 0 ? 0 : groups_[group_ - 1].end;
        return parquetUnit(
            static_cast<int>(groups_.size()), static_cast<int>(group_), row_ - 1 - first, groups_[group_].end - first);
    }

private:
    struct Group {
        std::uint64_t end;
        std::uint64_t meanBytes;
    };
    std::vector<Group> groups_;
    std::size_t group_ = 0;
    std::uint64_t row_;
};

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

/// The bytes of a stretch one after the other, fetched some pages ahead, and not at all where they are jumped over.
class StretchStream : public arrow::io::InputStream {
public:
    StretchStream(std::shared_ptr<SourceFile> file, const ByteRange& stretch, bool jumps)
        : file_(std::move(file))
        , stretch_(stretch)
        , jumps_(jumps)
        , position_(stretch.offset)
    {
        set_mode(arrow::io::FileMode::READ);
    }
    /// The next bytes that are read are not looked at.
    void jumpOverNext() { jumpNext_ = true; }
    /// What is read from now on is looked at.
    void endJumps() { jumps_ = false; }

    arrow::Status Close() override { return arrow::Status::OK(); }
    bool closed() const override { return false; }
    arrow::Result<int64_t> Tell() const override { return static_cast<int64_t>(position_ - stretch_.offset); }
    /// May give less than is asked for while pages are jumped over: who finds no whole header in it asks again.
    arrow::Result<std::string_view> Peek(int64_t bytes) override
    {
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
    std::uint64_t peekedAt_ = UINT64_MAX;
    std::uint64_t peekBytes_ = kLittle;
    std::uint64_t step_ = kFirstStep;
    std::shared_ptr<arrow::Buffer> window_;
    std::uint64_t windowBegin_ = 0;
};

/// How deep a value is defined when the innermost list around it has an element there.
int16_t levelOfElements(const parquet::ColumnDescriptor& column)
{
    int16_t above = 0; // optional parts below the innermost list
    for (const auto* node = column.schema_node().get(); node->parent() != nullptr && !node->is_repeated();
        node = node->parent())
        above = static_cast<int16_t>(above + (node->is_optional() ? 1 : 0));
    return static_cast<int16_t>(column.max_definition_level() - above);
}

/// The pages of a column of a row group from the first that holds a wanted row.
class ColumnPages {
public:
    ColumnPages(std::shared_ptr<SourceFile> file, const parquet::FileMetaData& metadata, int group, int column,
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
    /// Lives no longer than this.
    std::unique_ptr<parquet::PageReader> open()
    {
        const bool alwaysCompressed
            = metadata_.writer_version().VersionLt(parquet::ApplicationVersion::PARQUET_CPP_10353_FIXED_VERSION());
        auto pages = parquet::PageReader::Open(
            stream_, chunk_->num_values(), chunk_->compression(), readerProperties(), descr_, alwaysCompressed);
        // A page without values (Arrow's own writer makes them) is taken by Arrow's reader for the end of the column.
        pages->set_data_page_filter(
            [this](const parquet::DataPageStats& page) { return page.num_values == 0 || jumpsOver(page); });
        return pages;
    }
    const ByteRange& place() const { return place_; }
    /// How many of the rows that are not wanted come nevertheless, because they are in the same page.
    std::uint64_t rowsToSkip() const { return rowsToSkip_; }

private:
    bool jumpsOver(const parquet::DataPageStats& page)
    {
        const bool isFlat = descr_.max_repetition_level() == 0;
        const int64_t rows
            = isFlat ? page.num_values : page.num_rows.value_or(-1); // of a list older pages do not say it
        jumps_ = jumps_ && rows >= 0 && rowsToSkip_ > 0 && static_cast<std::uint64_t>(rows) <= rowsToSkip_;
        if (!jumps_) {
            stream_->endJumps();
            return false;
        }
        rowsToSkip_ -= static_cast<std::uint64_t>(rows);
        stream_->jumpOverNext();
        return true;
    }

    const parquet::FileMetaData& metadata_;
    std::unique_ptr<parquet::ColumnChunkMetaData> chunk_;
    const parquet::ColumnDescriptor& descr_;
    ByteRange place_;
    std::uint64_t rowsToSkip_;
    bool jumps_ = true;
    std::shared_ptr<StretchStream> stream_;
};

class ParquetRows : public RowReader {
public:
    ParquetRows(std::shared_ptr<SourceFile> bytes, std::shared_ptr<parquet::FileMetaData> metadata, int column,
        std::string name)
        : bytes_(std::move(bytes))
        , metadata_(std::move(metadata))
        , column_(column)
        , name_(std::move(name))
        , values_(kBatchRows)
        , levels_(kBatchRows)
        , repeats_(kBatchRows)
    {
    }
    Status seek(std::uint64_t row)
    {
        while (group_ < metadata_->num_row_groups()) {
            const auto rows = static_cast<std::uint64_t>(metadata_->RowGroup(group_)->num_rows());
            if (row < rows)
                break;
            row -= rows;
            ++group_;
        }
        if (row == 0 || group_ >= metadata_->num_row_groups())
            return {};
        try {
            enterGroup(row);
            if (!chunk_->HasNext()) // reads the first page that is not jumped over
                return shortGroup();
            rowInGroup_ = row - pages_->rowsToSkip();
            return isRepeated_ ? skipRows(row) : skipValues(row - rowInGroup_);
        } catch (const std::exception& e) {
            return causeOf(e, *bytes_, name_, pages_ ? pages_->place() : ByteRange {});
        }
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        try {
            if (!fill())
                return false;
            ++rowInGroup_;
            if (!isRepeated_) {
                takeValue(row);
                return true;
            }
            takeList(row);
            return true;
        } catch (const std::exception& e) {
            return causeOf(e, *bytes_, name_, pages_ ? pages_->place() : ByteRange {});
        }
    }
    /// The texts of the next row one by one, null where an element of a list has none; false at the end.
    Result<bool> nextTexts(std::vector<std::optional<std::string>>& texts, std::uint64_t& sizeBytes)
    {
        texts.clear();
        try {
            if (!fill())
                return false;
            ++rowInGroup_;
            do {
                const bool isElement = levels_[static_cast<std::size_t>(level_)] >= elementLevel_;
                const auto* value = takeOne();
                sizeBytes += value ? value->len : 0;
                if (value && sizeBytes <= kMaxRowBytes)
                    texts.emplace_back(std::string(reinterpret_cast<const char*>(value->ptr), value->len));
                else if (isElement)
                    texts.emplace_back();
            } while (isRepeated_ && fillInGroup() && repeats_[static_cast<std::size_t>(level_)] > 0);
            return true;
        } catch (const std::exception& e) {
            return causeOf(e, *bytes_, name_, pages_ ? pages_->place() : ByteRange {});
        }
    }
    std::uint64_t unit() const override
    {
        const int group = group_ - 1; // group_ is the next one
        return parquetUnit(metadata_->num_row_groups(), group, rowInGroup_ - 1, rowsOfGroup_);
    }

private:
    Status skipValues(std::uint64_t rows)
    {
        if (chunk_->Skip(static_cast<int64_t>(rows)) != static_cast<int64_t>(rows))
            return shortGroup();
        rowInGroup_ += rows;
        return {};
    }
    /// In lists rows can only be counted by reading them.
    Status skipRows(std::uint64_t rows)
    {
        for (Row waste; rowInGroup_ < rows;) {
            FURROW_TRY_ASSIGN(auto more, next(waste));
            if (!more)
                return shortGroup();
        }
        return {};
    }
    Error shortGroup() const { return damaged(name_, kShortGroup); }
    /// Makes sure that a value is at hand; false at the end.
    bool fill()
    {
        while (level_ == numLevels_)
            if (!readBatch())
                return false;
        return true;
    }
    /// The value at hand, null for none.
    const parquet::ByteArray* takeOne()
    {
        const bool isThere = levels_[static_cast<std::size_t>(level_++)] >= maxLevel_;
        return isThere ? &values_[static_cast<std::size_t>(value_++)] : nullptr;
    }
    void takeValue(Row& row)
    {
        const auto* value = takeOne();
        if (value == nullptr)
            return; // an empty text
        row.sizeBytes = value->len;
        if (value->len > kMaxRowBytes)
            row.problem = literal(kRowTooLong);
        else
            row.text = std::string_view(reinterpret_cast<const char*>(value->ptr), value->len);
    }
    /// All values up to the next row, joined by line breaks. Where a row ends is seen at the next one.
    void takeList(Row& row)
    {
        joined_.clear();
        bool isFirst = true;
        bool isTooLong = false;
        do {
            if (const auto* value = takeOne()) {
                row.sizeBytes += value->len;
                isTooLong = isTooLong || joined_.size() + value->len > kMaxRowBytes;
                if (!isTooLong)
                    joined_.append(isFirst ? "" : "\n").append(reinterpret_cast<const char*>(value->ptr), value->len);
                isFirst = false;
            }
        } while (fillInGroup() && repeats_[static_cast<std::size_t>(level_)] > 0);
        if (isTooLong)
            row.problem = literal(kRowTooLong);
        else
            row.text = joined_;
    }
    /// fill(), but not beyond the open row group: a row never goes over its end.
    bool fillInGroup() { return level_ < numLevels_ || (chunk_->HasNext() && fill()); }
    /// @param rowsToSkip  at its beginning, as far as whole pages can be jumped over
    void enterGroup(std::uint64_t rowsToSkip)
    {
        rowInGroup_ = 0;
        rowsOfGroup_ = static_cast<std::uint64_t>(metadata_->RowGroup(group_)->num_rows());
        pages_ = std::make_shared<ColumnPages>(bytes_, *metadata_, group_++, column_, rowsToSkip);
        const auto* descr = metadata_->schema()->Column(column_);
        maxLevel_ = descr->max_definition_level();
        isRepeated_ = descr->max_repetition_level() > 0;
        elementLevel_ = levelOfElements(*descr);
        chunk_ = std::static_pointer_cast<parquet::ByteArrayReader>(parquet::ColumnReader::Make(descr, pages_->open()));
    }
    bool readBatch()
    {
        for (;;) {
            if (chunk_ && chunk_->HasNext())
                break;
            if (chunk_
                && rowInGroup_ != rowsOfGroup_) // else the rows of the next group would be taken for the missing ones
                throw parquet::ParquetException(kShortGroup);
            if (group_ >= metadata_->num_row_groups())
                return false;
            enterGroup(0);
        }
        int64_t values = 0;
        numLevels_ = chunk_->ReadBatch(
            kBatchRows, levels_.data(), isRepeated_ ? repeats_.data() : nullptr, values_.data(), &values);
        if (maxLevel_ == 0) { // a required column has no levels
            numLevels_ = values;
            std::fill(levels_.begin(), levels_.end(), static_cast<int16_t>(0));
        }
        level_ = value_ = 0;
        return true;
    }

    std::shared_ptr<SourceFile> bytes_;
    std::shared_ptr<parquet::FileMetaData> metadata_;
    int column_;
    std::string name_;
    int group_ = 0;
    std::uint64_t rowInGroup_ = 0; ///< rows of the open group given or skipped
    std::uint64_t rowsOfGroup_ = 0;
    std::shared_ptr<ColumnPages> pages_;
    std::shared_ptr<parquet::ByteArrayReader> chunk_;
    std::vector<parquet::ByteArray> values_;
    std::vector<int16_t> levels_; ///< how deep each value is defined
    std::vector<int16_t> repeats_; ///< 0 where a row begins; of lists only
    std::string joined_;
    bool isRepeated_ = false;
    int16_t maxLevel_ = 0;
    int16_t elementLevel_ = 0; ///< from which on there is an element of the innermost list
    int64_t numLevels_ = 0;
    int64_t level_ = 0;
    int64_t value_ = 0;
};

/// Rows that are conversations, put together of the columns that hold their texts.
class ParquetConversations : public RowReader {
public:
    struct Column {
        ColumnPath path;
        std::unique_ptr<ParquetRows> rows;
    };
    ParquetConversations(std::vector<Column> columns, ConversationColumns conversation)
        : columns_(std::move(columns))
        , conversation_(std::move(conversation))
    {
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        std::uint64_t sizeBytes = 0;
        for (const Column& column : columns_) {
            FURROW_TRY_ASSIGN(const bool more, column.rows->nextTexts(texts_, sizeBytes));
            if (!more)
                return false;
            put(column.path, object);
        }
        row.sizeBytes = sizeBytes;
        row.isConversation = true;
        const auto json = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        problem_ = sizeBytes > kMaxRowBytes ? literal(kRowTooLong) : readConversation(json, conversation_, text_);
        row.problem = problem_.empty() ? nullptr : problem_.c_str();
        row.text = text_;
        return true;
    }
    std::uint64_t unit() const override { return columns_.front().rows->unit(); }

private:
    /// The texts at `path` of the row: of one member, or of a member of each object in a list.
    void put(const ColumnPath& path, nlohmann::ordered_json& object) const
    {
        const auto& moves = path.moves();
        if (moves.size() == 1) {
            if (!texts_.empty() && texts_.front())
                object[moves.front().name] = *texts_.front();
            return;
        }
        auto& list = object[moves.front().name];
        if (!list.is_array())
            list = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            if (i == list.size())
                list.push_back(nlohmann::ordered_json::object());
            if (texts_[i])
                list[i][moves.back().name] = *texts_[i];
        }
    }

    std::vector<Column> columns_;
    ConversationColumns conversation_;
    std::vector<std::optional<std::string>> texts_; ///< of the column that is read
    std::string text_;
    std::string problem_;
};

std::string mainColumn(const RowOptions& options)
{
    return textColumns({ options.conversation, options.textColumn }).front();
}

Result<std::unique_ptr<RowReader>> openConversations(const std::shared_ptr<const ByteSource>& source,
    const std::shared_ptr<parquet::FileMetaData>& metadata, const DataFile& file, const RowOptions& options,
    std::uint64_t position)
{
    const ConversationColumns conversation { options.conversation, options.textColumn };
    std::vector<ParquetConversations::Column> columns;
    for (const auto& name : textColumns(conversation)) {
        const auto place = findColumn(*metadata, file, name);
        if (!place.ok() && columns.empty())
            return place.error();
        if (!place.ok())
            continue; // what need not be there
        auto rows
            = std::make_unique<ParquetRows>(std::make_shared<SourceFile>(source), metadata, place.value(), file.path);
        FURROW_TRY(rows->seek(position));
        columns.push_back({ ColumnPath::parse(name), std::move(rows) });
    }
    return std::unique_ptr<RowReader>(std::make_unique<ParquetConversations>(std::move(columns), conversation));
}

} // namespace

Result<FileColumns> readParquetColumns(const std::shared_ptr<const ByteSource>& source, const std::string& name)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = readFooter(bytes);
        FileColumns columns;
        columns.rows = metadata->num_rows();
        for (int i = 0; i < metadata->schema()->num_columns(); ++i) {
            const auto* column = metadata->schema()->Column(i);
            columns.all.push_back(pathOf(*column).text());
            if (holdsText(*column))
                columns.text.push_back(columns.all.back());
        }
        return columns;
    } catch (const std::exception& e) { // Parquet throws on every damaged footer
        return causeOf(e, *bytes, name);
    }
}

Result<double> parquetShare(
    const std::shared_ptr<const ByteSource>& source, const DataFile& file, const std::string& name)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = readFooter(bytes);
        FURROW_TRY_ASSIGN(auto column, findColumn(*metadata, file, name));
        double text = 0;
        for (int g = 0; g < metadata->num_row_groups(); ++g)
            text += static_cast<double>(
                std::max<int64_t>(metadata->RowGroup(g)->ColumnChunk(column)->total_compressed_size(), 0));
        return file.sizeBytes > 0 ? text / static_cast<double>(file.sizeBytes) : 0.0;
    } catch (const std::exception& e) {
        return causeOf(e, *bytes, file.path);
    }
}

Result<std::unique_ptr<RowScanner>> openParquetScanner(const std::shared_ptr<const ByteSource>& source,
    const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = readFooter(bytes);
        FURROW_TRY_ASSIGN(auto column, findColumn(*metadata, file, mainColumn(options)));
        return std::unique_ptr<RowScanner>(std::make_unique<ParquetScanner>(*metadata, column, position));
    } catch (const std::exception& e) {
        return causeOf(e, *bytes, file.path);
    }
}

Result<std::unique_ptr<RowReader>> openParquetReader(const std::shared_ptr<const ByteSource>& source,
    const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        auto metadata = readFooter(bytes);
        if (options.conversation != ConversationForm::None)
            return openConversations(source, std::move(metadata), file, options, position);
        FURROW_TRY_ASSIGN(auto column, findColumn(*metadata, file, options.textColumn));
        auto rows = std::make_unique<ParquetRows>(bytes, std::move(metadata), column, file.path);
        FURROW_TRY(rows->seek(position));
        return std::unique_ptr<RowReader>(std::move(rows));
    } catch (const std::exception& e) {
        return causeOf(e, *bytes, file.path);
    }
}

} // namespace furrow

#else

namespace furrow {

namespace {

Error notBuilt(const std::string& name)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 is a Parquet file, and this Furrow was built without Parquet. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.",
            { name }) };
}

} // namespace

Result<FileColumns> readParquetColumns(const std::shared_ptr<const ByteSource>&, const std::string& name)
{
    return notBuilt(name);
}

Result<double> parquetShare(const std::shared_ptr<const ByteSource>&, const DataFile& file, const std::string&)
{
    return notBuilt(file.path);
}

Result<std::unique_ptr<RowScanner>> openParquetScanner(
    const std::shared_ptr<const ByteSource>&, const DataFile& file, const RowOptions&, std::uint64_t)
{
    return notBuilt(file.path);
}

Result<std::unique_ptr<RowReader>> openParquetReader(
    const std::shared_ptr<const ByteSource>&, const DataFile& file, const RowOptions&, std::uint64_t)
{
    return notBuilt(file.path);
}

} // namespace furrow

#endif
