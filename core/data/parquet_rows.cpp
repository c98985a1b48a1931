// The text column of Parquet files. Rows are addressed by their index in the file; a row group is entered by skipping
// inside it, never by reading the ones before.

#include "core/data/parquet_rows.h"

#include "core/base/sentence.h"

#if FURROW_WITH_PARQUET

#include "core/data/column_path.h"
#include "core/data/row_choice.h"

#include <algorithm>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/config.h>
#include <optional>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

namespace furrow {

namespace {

constexpr std::int64_t kBatchRows = 1024;
constexpr const char* kTooLong = "is longer than 16 MiB";

/// Lets Arrow read from a ByteSource.
class SourceFile : public arrow::io::RandomAccessFile {
public:
    explicit SourceFile(std::shared_ptr<const ByteSource> source)
        : source_(std::move(source))
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
        const auto status = source_->readAt(static_cast<std::uint64_t>(position), std::span<std::byte>(static_cast<std::byte*>(out), static_cast<std::size_t>(n)));
        if (status.ok())
            return n;
        failure_ = status.error();
        return arrow::Status::IOError(failure_->message);
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
    /// What the source answered when it could not be read. Arrow passes on the words alone, and a hub that is away would be a damaged file.
    const std::optional<Error>& failure() const { return failure_; }

private:
    std::shared_ptr<const ByteSource> source_;
    std::optional<Error> failure_;
    int64_t position_ = 0;
    bool closed_ = false;
};

Error damaged(const std::string& name, const std::string& why)
{
    return { ErrorCode::Corrupt, sentence("%1 cannot be read as Parquet (%2). Fetch or write it again.", { name, why }) };
}

/// What an exception of Parquet means: the source could not be read, else what it holds is damaged.
Error causeOf(const std::exception& e, const SourceFile& bytes, const std::string& name)
{
    return bytes.failure() ? *bytes.failure() : damaged(name, e.what());
}

std::unique_ptr<parquet::ParquetFileReader> openFile(const std::shared_ptr<SourceFile>& bytes)
{
    parquet::ReaderProperties properties;
    properties.enable_buffered_stream(); // a row group may be larger than memory
    properties.set_buffer_size(1 << 20);
    properties.set_page_checksum_verification(true);
    return parquet::ParquetFileReader::Open(bytes, properties);
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
    return (node.logical_type() && node.logical_type()->is_list()) || node.converted_type() == parquet::ConvertedType::LIST;
}

/// The repeated part of a list has one member, which is the element, in the layout of today; in older ones it is the element.
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

/// Index of the text column, or an error.
Result<int> findColumn(const parquet::FileMetaData& metadata, const DataFile& file, const std::string& name)
{
    for (int i = 0; i < metadata.schema()->num_columns(); ++i) {
        const auto* column = metadata.schema()->Column(i);
        if (pathOf(*column).text() != name && (column->max_repetition_level() > 0 || column->path()->ToDotString() != name))
            continue;
        if (!holdsText(*column))
            return Error { ErrorCode::InvalidArgument, sentence("%1: the column '%2' holds no text.", { file.path, name }) };
        return i;
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
        return parquetUnit(static_cast<int>(groups_.size()), static_cast<int>(group_), row_ - 1 - first, groups_[group_].end - first);
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

class ParquetRows : public RowReader {
public:
    ParquetRows(std::shared_ptr<const SourceFile> bytes, std::unique_ptr<parquet::ParquetFileReader> reader, int column, std::string name)
        : bytes_(std::move(bytes))
        , reader_(std::move(reader))
        , column_(column)
        , name_(std::move(name))
        , values_(kBatchRows)
        , levels_(kBatchRows)
        , repeats_(kBatchRows)
    {
    }
    Status seek(std::uint64_t row)
    {
        const auto metadata = reader_->metadata();
        while (group_ < metadata->num_row_groups()) {
            const auto rows = static_cast<std::uint64_t>(metadata->RowGroup(group_)->num_rows());
            if (row < rows)
                break;
            row -= rows;
            ++group_;
        }
        if (row == 0 || group_ >= metadata->num_row_groups())
            return {};
        enterGroup();
        return isRepeated_ ? skipRows(row) : skipValues(row);
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
            return causeOf(e, *bytes_, name_);
        }
    }
    std::uint64_t unit() const override
    {
        const auto metadata = reader_->metadata();
        const int group = group_ - 1; // group_ is the next one
        return parquetUnit(metadata->num_row_groups(), group, rowInGroup_ - 1, static_cast<std::uint64_t>(group_reader_->metadata()->num_rows()));
    }

private:
    Status skipValues(std::uint64_t row)
    {
        while (rowInGroup_ < row && hasMore()) {
            const auto skipped = chunk_->Skip(static_cast<int64_t>(row - rowInGroup_));
            if (skipped <= 0)
                break;
            rowInGroup_ += static_cast<std::uint64_t>(skipped);
            levelsLeft_ -= skipped;
        }
        return rowInGroup_ == row ? Status {} : Status(shortGroup());
    }
    /// In lists rows can only be counted by reading them.
    Status skipRows(std::uint64_t rows)
    {
        for (Row waste; rowInGroup_ < rows;) {
            auto more = next(waste);
            if (!more.ok())
                return more.error();
            if (!more.value())
                return shortGroup();
        }
        return {};
    }
    static constexpr const char* kShortGroup = "a row group has fewer rows than its footer says";
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
            row.problem = kTooLong;
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
            row.problem = kTooLong;
        else
            row.text = joined_;
    }
    /// fill(), but not beyond the open row group: a row never goes over its end.
    bool fillInGroup() { return level_ < numLevels_ || (hasMore() && fill()); }
    /// Whether the open row group has more values. Arrow takes a page without any (its own writer makes them) for the end; asked again it goes on behind it.
    bool hasMore()
    {
        constexpr int kEmptyPages = 100;
        for (int page = 0; page < kEmptyPages; ++page)
            if (chunk_->HasNext())
                return true;
            else if (levelsLeft_ <= 0)
                return false;
        return false;
    }
    void enterGroup()
    {
        rowInGroup_ = 0;
        group_reader_ = reader_->RowGroup(group_++);
        levelsLeft_ = group_reader_->metadata()->ColumnChunk(column_)->num_values();
        auto chunk = group_reader_->Column(column_);
        maxLevel_ = chunk->descr()->max_definition_level();
        isRepeated_ = chunk->descr()->max_repetition_level() > 0;
        chunk_ = std::static_pointer_cast<parquet::ByteArrayReader>(chunk);
    }
    bool readBatch()
    {
        for (;;) {
            if (chunk_ && hasMore())
                break;
            if (chunk_ && rowInGroup_ < static_cast<std::uint64_t>(group_reader_->metadata()->num_rows()))
                throw parquet::ParquetException(kShortGroup);
            if (group_ >= reader_->metadata()->num_row_groups())
                return false;
            enterGroup();
        }
        int64_t values = 0;
        numLevels_ = chunk_->ReadBatch(kBatchRows, levels_.data(), isRepeated_ ? repeats_.data() : nullptr, values_.data(), &values);
        if (maxLevel_ == 0) { // a required column has no levels
            numLevels_ = values;
            std::fill(levels_.begin(), levels_.end(), static_cast<int16_t>(0));
        }
        levelsLeft_ -= numLevels_;
        level_ = value_ = 0;
        return true;
    }

    std::shared_ptr<const SourceFile> bytes_;
    std::unique_ptr<parquet::ParquetFileReader> reader_;
    int column_;
    std::string name_;
    int group_ = 0;
    std::uint64_t rowInGroup_ = 0; ///< rows of the open group given or skipped
    int64_t levelsLeft_ = 0; ///< of the open group, as its footer counts them: nulls too
    std::shared_ptr<parquet::RowGroupReader> group_reader_;
    std::shared_ptr<parquet::ByteArrayReader> chunk_;
    std::vector<parquet::ByteArray> values_;
    std::vector<int16_t> levels_; ///< how deep each value is defined
    std::vector<int16_t> repeats_; ///< 0 where a row begins; of lists only
    std::string joined_;
    bool isRepeated_ = false;
    int16_t maxLevel_ = 0;
    int64_t numLevels_ = 0;
    int64_t level_ = 0;
    int64_t value_ = 0;
};

} // namespace

Result<FileColumns> readParquetColumns(const std::shared_ptr<const ByteSource>& source, const std::string& name)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = openFile(bytes)->metadata();
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

Result<double> parquetShare(const std::shared_ptr<const ByteSource>& source, const DataFile& file, const std::string& name)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = openFile(bytes)->metadata();
        auto column = findColumn(*metadata, file, name);
        if (!column.ok())
            return column.error();
        double text = 0;
        for (int g = 0; g < metadata->num_row_groups(); ++g)
            text += static_cast<double>(std::max<int64_t>(metadata->RowGroup(g)->ColumnChunk(column.value())->total_compressed_size(), 0));
        return file.sizeBytes > 0 ? text / static_cast<double>(file.sizeBytes) : 0.0;
    } catch (const std::exception& e) {
        return causeOf(e, *bytes, file.path);
    }
}

Result<std::unique_ptr<RowScanner>> openParquetScanner(const std::shared_ptr<const ByteSource>& source, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        const auto metadata = openFile(bytes)->metadata();
        auto column = findColumn(*metadata, file, options.textColumn);
        if (!column.ok())
            return column.error();
        return std::unique_ptr<RowScanner>(std::make_unique<ParquetScanner>(*metadata, column.value(), position));
    } catch (const std::exception& e) {
        return causeOf(e, *bytes, file.path);
    }
}

Result<std::unique_ptr<RowReader>> openParquetReader(const std::shared_ptr<const ByteSource>& source, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    const auto bytes = std::make_shared<SourceFile>(source);
    try {
        auto reader = openFile(bytes);
        auto column = findColumn(*reader->metadata(), file, options.textColumn);
        if (!column.ok())
            return column.error();
        auto rows = std::make_unique<ParquetRows>(bytes, std::move(reader), column.value(), file.path);
        if (auto status = rows->seek(position); !status.ok())
            return status.error();
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
    return { ErrorCode::InvalidArgument, sentence("%1 is a Parquet file, and this Furrow was built without Parquet. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.", { name }) };
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

Result<std::unique_ptr<RowScanner>> openParquetScanner(const std::shared_ptr<const ByteSource>&, const DataFile& file, const RowOptions&, std::uint64_t)
{
    return notBuilt(file.path);
}

Result<std::unique_ptr<RowReader>> openParquetReader(const std::shared_ptr<const ByteSource>&, const DataFile& file, const RowOptions&, std::uint64_t)
{
    return notBuilt(file.path);
}

} // namespace furrow

#endif
