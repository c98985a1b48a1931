// The text column of Parquet files. Rows are addressed by their index in the file; a row group is entered by skipping
// inside it, never by reading the ones before.

#include "core/data/source/parquet_rows.h"

#include "core/base/sentence.h"
#include "core/chat/row_problems.h"

#if FURROW_WITH_PARQUET

#include "core/data/source/parquet_columns.h"
#include "core/data/source/parquet_pages.h"
#include "core/data/source/row_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <parquet/exception.h>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kBatchRows = 1024;
constexpr const char* kShortGroup = "a row group has fewer rows than its footer says";

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
    /// What is damaged on the way is told by the first next().
    void seek(std::uint64_t row)
    {
        while (group_ < metadata_->num_row_groups()) {
            const auto rows = static_cast<std::uint64_t>(metadata_->RowGroup(group_)->num_rows());
            if (row < rows)
                break;
            row -= rows;
            groupEnd_ += rows;
            ++group_;
        }
        if (row == 0 || group_ >= metadata_->num_row_groups())
            return;
        try {
            enterGroup(row);
            if (!chunk_->HasNext()) // reads the first page that is not jumped over
                throw parquet::ParquetException(kShortGroup);
            rowInGroup_ = row - pages_->rowsToSkip();
            if (isRepeated_)
                skipRows(row);
            else
                skipValues(row - rowInGroup_);
        } catch (const std::exception& e) {
            rowInGroup_ = row;
            isInRow_ = false;
            failure_ = failed(e);
        }
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        if (failure_)
            return tellFailure();
        try {
            return takeRow(row);
        } catch (const std::exception& e) {
            if (fail(e))
                return tellFailure();
            giveList(row);
            return true;
        }
    }
    std::optional<std::int64_t> rowsLost() const override { return rowsLost_; }
    /// The texts of the next row one by one, null where an element of a list has none; false at the end.
    Result<bool> nextTexts(std::vector<std::optional<std::string>>& texts, std::uint64_t& sizeBytes)
    {
        texts.clear();
        if (failure_)
            return tellFailure();
        try {
            if (!fill())
                return false;
            isInRow_ = true;
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
            isInRow_ = false;
            return true;
        } catch (const std::exception& e) {
            return fail(e) ? Result<bool>(tellFailure()) : true;
        }
    }
    std::uint64_t unit() const override
    {
        const int group = group_ - 1; // group_ is the next one
        return parquetUnit(metadata_->num_row_groups(), group, rowInGroup_ - 1, rowsOfGroup_);
    }

private:
    /// Nothing more can be read. False: the row at hand is whole all the same, and only those behind it are lost.
    bool fail(const std::exception& e)
    {
        const bool isWhole = isInRow_ && isWhole_;
        isInRow_ = isInRow_ && !isWhole;
        failure_ = failed(e);
        return !isWhole;
    }
    /// Only now what came is not believed: whoever wants the rows before the damage alone reads on to it each time.
    const Error& tellFailure() const
    {
        if (pages_)
            bytes_->distrust(pages_->place(), pages_->page());
        return *failure_;
    }
    /// What an exception means, with the rows that are lost by it: from the one that is read to the end of its page, or
    /// of its row group.
    Error failed(const std::exception& e)
    {
        const std::uint64_t row = rowInGroup_ - (isInRow_ ? 1 : 0);
        const std::uint64_t pageEnd = pages_ ? pages_->rowsThrough() : 0;
        const std::uint64_t end = row < pageEnd && pageEnd < rowsOfGroup_ ? pageEnd : rowsOfGroup_;
        if (row >= end)
            return damageOf(e, *bytes_, name_);
        const std::uint64_t groupBegin = groupEnd_ - rowsOfGroup_;
        rowsLost_ = static_cast<std::int64_t>(end - row);
        return damageOf(e, *bytes_, name_, ParquetStretch { groupBegin + row, groupBegin + end });
    }
    void skipValues(std::uint64_t rows)
    {
        if (chunk_->Skip(static_cast<int64_t>(rows)) != static_cast<int64_t>(rows))
            throw parquet::ParquetException(kShortGroup);
        rowInGroup_ += rows;
    }
    /// In lists rows can only be counted by reading them.
    void skipRows(std::uint64_t rows)
    {
        for (Row waste; rowInGroup_ < rows;)
            if (!takeRow(waste))
                throw parquet::ParquetException(kShortGroup);
        isInRow_ = false;
    }
    bool takeRow(Row& row)
    {
        if (!fill())
            return false;
        isInRow_ = true;
        ++rowInGroup_;
        if (isRepeated_)
            takeList(row);
        else
            takeValue(row);
        isInRow_ = false;
        return true;
    }
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
        isTooLong_ = false;
        do {
            if (const auto* value = takeOne()) {
                row.sizeBytes += value->len;
                isTooLong_ = isTooLong_ || joined_.size() + value->len > kMaxRowBytes;
                if (!isTooLong_)
                    joined_.append(isFirst ? "" : "\n").append(reinterpret_cast<const char*>(value->ptr), value->len);
                isFirst = false;
            }
        } while (fillInGroup() && repeats_[static_cast<std::size_t>(level_)] > 0);
        giveList(row);
    }
    void giveList(Row& row)
    {
        if (isTooLong_)
            row.problem = literal(kRowTooLong);
        else
            row.text = joined_;
    }
    /// fill(), but not beyond the open row group: a row never goes over its end.
    bool fillInGroup()
    {
        isWhole_ = level_ == numLevels_ && levelsTaken_ == pages_->valuesRead() && rowInGroup_ == pages_->rowsThrough()
            && rowInGroup_ < rowsOfGroup_ && pages_->endRows();
        return level_ < numLevels_ || (chunk_->HasNext() && fill());
    }
    /// @param rowsToSkip  at its beginning, as far as whole pages can be jumped over
    void enterGroup(std::uint64_t rowsToSkip)
    {
        rowInGroup_ = 0;
        isInRow_ = false;
        levelsTaken_ = 0;
        rowsOfGroup_ = static_cast<std::uint64_t>(metadata_->RowGroup(group_)->num_rows());
        groupEnd_ += rowsOfGroup_;
        pages_.reset();
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
        levelsTaken_ += static_cast<std::uint64_t>(numLevels_);
        return true;
    }

    std::shared_ptr<SourceFile> bytes_;
    std::shared_ptr<parquet::FileMetaData> metadata_;
    int column_;
    std::string name_;
    int group_ = 0;
    std::uint64_t rowInGroup_ = 0; ///< rows of the open group given or skipped
    std::uint64_t rowsOfGroup_ = 0;
    std::uint64_t groupEnd_ = 0; ///< the row of the file behind the open group
    bool isInRow_ = false; ///< a row is being read: it is among rowInGroup_
    bool isWhole_ = false; ///< that row ended with its page
    std::optional<Error> failure_; ///< nothing is read any more
    std::optional<std::int64_t> rowsLost_; ///< by it
    std::shared_ptr<ColumnPages> pages_;
    std::shared_ptr<parquet::ByteArrayReader> chunk_;
    std::vector<parquet::ByteArray> values_;
    std::vector<int16_t> levels_; ///< how deep each value is defined
    std::vector<int16_t> repeats_; ///< 0 where a row begins; of lists only
    std::string joined_; ///< the row that is read, of a list
    bool isTooLong_ = false; ///< that row
    bool isRepeated_ = false;
    int16_t maxLevel_ = 0;
    int16_t elementLevel_ = 0; ///< from which on there is an element of the innermost list
    int64_t numLevels_ = 0;
    std::uint64_t levelsTaken_ = 0; ///< of the open group, from the first page that was not jumped over
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
            const auto more = column.rows->nextTexts(texts_, sizeBytes);
            if (!more.ok())
                rowsLost_ = column.rows->rowsLost();
            if (!more.ok() || !more.value())
                return more;
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
    std::optional<std::int64_t> rowsLost() const override { return rowsLost_; }
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
    std::optional<std::int64_t> rowsLost_;
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
        rows->seek(position);
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
    } catch (const std::exception& e) {
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
        rows->seek(position);
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
