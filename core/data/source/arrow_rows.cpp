// The text column of Arrow streams and files. Bodies of batches before the first wanted row are stepped over.

#include "core/data/source/arrow_rows.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/chat/row_problems.h"
#include "core/data/source/arrow_frames.h"
#include "core/data/source/row_choice.h"

namespace furrow {

namespace {

Result<ArrowFrames> openFrames(FileAccess& access, const DataFile& file)
{
    const auto skip = static_cast<std::uint64_t>(file.format.skipBytes); // the magic of a file
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, skip));
    return ArrowFrames(std::move(stream), file.path, skip > 0);
}

std::uint64_t unitOf(int batch, std::uint64_t rowInBatch, std::uint64_t rows)
{
    return parquetUnit(1, batch, rowInBatch, rows); // how many batches come is not known: each is left out in parts
}

/// Only reads what messages say of themselves.
class ArrowScanner : public RowScanner {
public:
    ArrowScanner(ArrowFrames frames, std::uint64_t position)
        : frames_(std::move(frames))
        , row_(position)
    {
    }
    Result<bool> next(std::uint64_t& sizeBytes) override
    {
        while (row_ >= end_) {
            FURROW_TRY_ASSIGN(auto frame, frames_.next());
            if (!frame)
                return false;
            if (frame->kind != ArrowFrame::Kind::Batch)
                continue;
            ++batch_;
            rows_ = frame->rows;
            end_ += rows_;
            meanBytes_ = rows_ == 0 ? 0 : frame->bodyBytes / rows_;
        }
        sizeBytes = meanBytes_;
        ++row_;
        return true;
    }
    std::uint64_t position() const override { return row_; }
    std::uint64_t unit() const override { return unitOf(batch_, row_ - 1 - (end_ - rows_), rows_); }

private:
    ArrowFrames frames_;
    std::uint64_t row_;
    int batch_ = -1;
    std::uint64_t rows_ = 0; ///< of the batch
    std::uint64_t end_ = 0; ///< row behind it
    std::uint64_t meanBytes_ = 0;
};

} // namespace

Result<std::unique_ptr<RowScanner>> openArrowScanner(FileAccess& access, const DataFile& file, std::uint64_t position)
{
    FURROW_TRY_ASSIGN(auto frames, openFrames(access, file));
    return std::unique_ptr<RowScanner>(std::make_unique<ArrowScanner>(std::move(frames), position));
}

} // namespace furrow

#if FURROW_WITH_PARQUET

#include "core/data/source/column_path.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/binary_view_util.h>

namespace furrow {

namespace {

constexpr std::uint64_t kMostBatchBytes = 512ull << 20;
constexpr std::int64_t kMostMemory = 2ll << 30; ///< what compressed buffers may expand to

/// What the messages before the first wanted row say, then all from there on.
class Messages : public arrow::ipc::MessageReader {
public:
    /// @param failure  gets what the source or the frames answered; Arrow passes on the words alone
    Messages(ArrowFrames frames, std::string name, std::uint64_t firstRow, arrow::MemoryPool* pool,
        std::shared_ptr<std::optional<Error>> failure)
        : frames_(std::move(frames))
        , name_(std::move(name))
        , firstRow_(firstRow)
        , pool_(pool)
        , failure_(std::move(failure))
    {
    }
    arrow::Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override
    {
        for (;;) {
            auto frame = frames_.next();
            if (!frame.ok())
                return fail(frame.error());
            if (!frame.value())
                return std::unique_ptr<arrow::ipc::Message>();
            const auto& found = *frame.value();
            const bool isBatch = found.kind == ArrowFrame::Kind::Batch;
            batch_ += isBatch ? 1 : 0;
            if (isBatch && !begun_ && rowsBefore_ + found.rows <= firstRow_) {
                rowsBefore_ += found.rows;
                continue;
            }
            if (found.bodyBytes > kMostBatchBytes)
                return fail({ ErrorCode::InvalidArgument,
                    sentence(
                        "%1 has a batch of %2 that would have to be in memory at once; %3 is the most. Write it again in smaller batches.",
                        { name_, Bytes(found.bodyBytes), Bytes(kMostBatchBytes) }) });
            ARROW_ASSIGN_OR_RAISE(auto body, arrow::AllocateBuffer(static_cast<std::int64_t>(found.bodyBytes), pool_));
            if (auto read = frames_.readBody(
                    { reinterpret_cast<char*>(body->mutable_data()), static_cast<std::size_t>(found.bodyBytes) });
                !read.ok())
                return fail(read.error());
            begun_ = begun_ || isBatch; // a batch behind the first one is wanted, however small it is
            return arrow::ipc::Message::Open(arrow::Buffer::FromString(found.metadata), std::move(body));
        }
    }
    int batch() const { return batch_; }
    /// Rows to be left out of the first batch that was given.
    std::uint64_t rowsToSkip() const { return firstRow_ - rowsBefore_; }

private:
    arrow::Status fail(const Error& error)
    {
        *failure_ = error;
        return arrow::Status::IOError(error.message);
    }

    ArrowFrames frames_;
    std::string name_;
    std::uint64_t firstRow_;
    arrow::MemoryPool* pool_;
    std::uint64_t rowsBefore_ = 0; ///< of batches that were stepped over
    bool begun_ = false; ///< the batch of the first wanted row was given
    int batch_ = -1;
    std::shared_ptr<std::optional<Error>> failure_;
};

/// An open stream with the memory it may use.
struct Stream {
    std::unique_ptr<arrow::CappedMemoryPool> pool;
    std::shared_ptr<std::optional<Error>> failure = std::make_shared<std::optional<Error>>();
    Messages* messages = nullptr; ///< belongs to the reader
    std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader;
};

Error causeOf(const arrow::Status& status, const std::optional<Error>& failure, const std::string& name)
{
    if (failure)
        return *failure;
    if (status.IsOutOfMemory())
        return { ErrorCode::InvalidArgument,
            sentence("%1 has a batch that needs more than %2 of memory. Write it again in smaller batches.",
                { name, Bytes(static_cast<std::uint64_t>(kMostMemory)) }) };
    return { ErrorCode::Corrupt,
        sentence("%1 cannot be read as Arrow (%2). Fetch or write it again.", { name, status.message() }) };
}

Result<Stream> openStream(
    FileAccess& access, const DataFile& file, std::uint64_t position, const std::vector<int>& fields)
{
    FURROW_TRY_ASSIGN(auto frames, openFrames(access, file));
    Stream stream;
    stream.pool = std::make_unique<arrow::CappedMemoryPool>(
        arrow::default_memory_pool(), arrow::default_memory_pool()->bytes_allocated() + kMostMemory);
    auto messages
        = std::make_unique<Messages>(std::move(frames), file.path, position, stream.pool.get(), stream.failure);
    stream.messages = messages.get();
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = stream.pool.get();
    options.use_threads = false;
    options.included_fields = fields;
    auto reader = arrow::ipc::RecordBatchStreamReader::Open(std::move(messages), options);
    if (!reader.ok())
        return causeOf(reader.status(), *stream.failure, file.path);
    stream.reader = std::move(reader).ValueUnsafe();
    return stream;
}

const arrow::DataType& plainType(const arrow::DataType& type)
{
    if (type.id() == arrow::Type::DICTIONARY)
        return plainType(*static_cast<const arrow::DictionaryType&>(type).value_type());
    if (type.id() == arrow::Type::EXTENSION)
        return plainType(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    return type;
}

/// Adds the paths of all texts in a value of this type.
void addTexts(const arrow::DataType& type, const ColumnPath& path, std::vector<std::string>& texts)
{
    const auto& plain = plainType(type);
    switch (plain.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW: texts.push_back(path.text()); break;
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
        addTexts(*static_cast<const arrow::BaseListType&>(plain).value_type(), path.each(), texts);
        break;
    case arrow::Type::STRUCT:
        for (const auto& field : plain.fields())
            addTexts(*field->type(), path.member(field->name()), texts);
        break;
    default: break;
    }
}

/// Gathers the texts of one row. Every offset is checked: files are untrusted.
class TextOfRow {
public:
    explicit TextOfRow(std::vector<ColumnPath::Move> moves)
        : moves_(std::move(moves))
    {
    }
    /// false: offsets in the data lead nowhere.
    bool read(const arrow::Array& column, std::int64_t row)
    {
        text_.clear();
        pieces_ = 0;
        return take(column, row, 1); // the first move chose the column
    }
    std::string_view text() const { return text_; }
    bool tooLong() const { return text_.size() > kMaxRowBytes; }

private:
    bool take(const arrow::Array& array, std::int64_t i, std::size_t move)
    {
        if (i < 0 || i >= array.length())
            return false;
        if (array.IsNull(i) || tooLong())
            return true;
        switch (array.type_id()) {
        case arrow::Type::DICTIONARY: {
            const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
            return take(*dictionary.dictionary(), dictionary.GetValueIndex(i), move);
        }
        case arrow::Type::EXTENSION: return take(*static_cast<const arrow::ExtensionArray&>(array).storage(), i, move);
        case arrow::Type::STRING: return takeText(static_cast<const arrow::StringArray&>(array), i);
        case arrow::Type::LARGE_STRING: return takeText(static_cast<const arrow::LargeStringArray&>(array), i);
        case arrow::Type::STRING_VIEW: return takeView(static_cast<const arrow::StringViewArray&>(array), i);
        case arrow::Type::LIST: return takeList(static_cast<const arrow::ListArray&>(array), i, move);
        case arrow::Type::LARGE_LIST: return takeList(static_cast<const arrow::LargeListArray&>(array), i, move);
        case arrow::Type::FIXED_SIZE_LIST:
            return takeList(static_cast<const arrow::FixedSizeListArray&>(array), i, move);
        case arrow::Type::STRUCT: {
            const auto field = move < moves_.size()
                ? static_cast<const arrow::StructArray&>(array).GetFieldByName(moves_[move].name)
                : nullptr;
            return field == nullptr || take(*field, i, move + 1);
        }
        default: return true;
        }
    }
    template <typename Strings> bool takeText(const Strings& strings, std::int64_t i)
    {
        const std::int64_t begin = strings.value_offset(i);
        const std::int64_t end = strings.value_offset(i + 1);
        const std::int64_t size = strings.value_data() ? strings.value_data()->size() : 0;
        return begin >= 0 && begin <= end && end <= size && add(strings.GetView(i));
    }
    bool takeView(const arrow::StringViewArray& strings, std::int64_t i)
    {
        const auto& view = strings.raw_values()[i];
        if (!view.is_inline()) {
            const auto& buffers = strings.data()->buffers; // validity and views, then those with the texts
            const auto index = static_cast<std::size_t>(view.ref.buffer_index) + 2;
            if (view.ref.buffer_index < 0 || index >= buffers.size() || !buffers[index] || view.ref.offset < 0
                || view.size() < 0 || view.ref.offset > buffers[index]->size() - view.size())
                return false;
        }
        return add(strings.GetView(i));
    }
    template <typename Lists> bool takeList(const Lists& lists, std::int64_t i, std::size_t move)
    {
        const std::int64_t begin = lists.value_offset(i);
        const std::int64_t end = begin + lists.value_length(i);
        if (begin < 0 || begin > end || end > lists.values()->length())
            return false;
        for (std::int64_t k = begin; k < end; ++k)
            if (!take(*lists.values(), k, move + 1))
                return false;
        return true;
    }
    bool add(std::string_view text)
    {
        if (pieces_++ > 0)
            text_ += '\n';
        text_ += text;
        return true;
    }

    std::vector<ColumnPath::Move> moves_;
    std::string text_;
    std::size_t pieces_ = 0;
};

class ArrowRows : public RowReader {
public:
    ArrowRows(Stream stream, const ColumnPath& path, std::string name)
        : stream_(std::move(stream))
        , text_(path.moves())
        , name_(std::move(name))
    {
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        while (!batch_ || row_ >= batch_->num_rows())
            if (auto more = nextBatch(); !more.ok() || !more.value())
                return more;
        if (!text_.read(*batch_->column(0), row_))
            return Error { ErrorCode::Corrupt,
                sentence(
                    "%1 has damaged Arrow data in batch %2 (a text that lies outside of it). Fetch or write it again.",
                    { name_, std::to_string(stream_.messages->batch() + 1) }) };
        ++row_;
        row.problem = text_.tooLong() ? literal(kRowTooLong) : nullptr;
        row.text = text_.tooLong() ? std::string_view() : text_.text();
        row.sizeBytes = text_.text().size();
        return true;
    }
    std::uint64_t unit() const override
    {
        return unitOf(stream_.messages->batch(), static_cast<std::uint64_t>(row_ - 1),
            static_cast<std::uint64_t>(batch_->num_rows()));
    }

private:
    Result<bool> nextBatch()
    {
        std::shared_ptr<arrow::RecordBatch> batch;
        auto status = stream_.reader->ReadNext(&batch);
        if (status.ok() && batch)
            status = batch->Validate();
        if (!status.ok())
            return causeOf(status, *stream_.failure, name_);
        row_ = batch_ ? 0 : batch ? static_cast<std::int64_t>(stream_.messages->rowsToSkip()) : 0;
        batch_ = std::move(batch);
        return batch_ != nullptr;
    }

    Stream stream_;
    TextOfRow text_;
    std::string name_;
    std::shared_ptr<arrow::RecordBatch> batch_;
    std::int64_t row_ = 0;
};

} // namespace

Result<FileColumns> readArrowColumns(FileAccess& access, const DataFile& file)
{
    FURROW_TRY_ASSIGN(auto stream, openStream(access, file, 0, {}));
    FileColumns columns;
    for (const auto& field : stream.reader->schema()->fields()) {
        columns.all.push_back(ColumnPath::ofName(field->name()).text());
        addTexts(*field->type(), ColumnPath::ofName(field->name()), columns.text);
    }
    return columns;
}

Result<std::unique_ptr<RowReader>> openArrowReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    const auto path = ColumnPath::parse(options.textColumn);
    int field = -1;
    {
        FURROW_TRY_ASSIGN(auto stream, openStream(access, file, 0, {})); // only its schema
        field = path.moves().empty() ? -1 : stream.reader->schema()->GetFieldIndex(path.moves().front().name);
    }
    if (field < 0)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column '%2'.", { file.path, options.textColumn }) };
    FURROW_TRY_ASSIGN(auto stream, openStream(access, file, position, { field }));
    return std::unique_ptr<RowReader>(std::make_unique<ArrowRows>(std::move(stream), path, file.path));
}

} // namespace furrow

#else

namespace furrow {

namespace {

Error notBuilt(const DataFile& file)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 is an Arrow file, and this Furrow was built without Arrow. Convert it to jsonl, or build with FURROW_WITH_PARQUET=ON.",
            { file.path }) };
}

} // namespace

Result<FileColumns> readArrowColumns(FileAccess&, const DataFile& file) { return notBuilt(file); }

Result<std::unique_ptr<RowReader>> openArrowReader(FileAccess&, const DataFile& file, const RowOptions&, std::uint64_t)
{
    return notBuilt(file);
}

} // namespace furrow

#endif
