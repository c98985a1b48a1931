#include "core/data/row_reader.h"

#include "core/base/sentence.h"
#include "core/data/csv_fields.h"
#include "core/data/json_text.h"
#include "core/data/parquet_rows.h"
#include "core/data/row_choice.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr int kColumnLines = 100;
constexpr const char* kTooLong = "is longer than 16 MiB";

RecordRules recordRules(const DataFile& file, const RowOptions& options)
{
    RecordRules rules = options.text;
    switch (file.format.format) {
    case TextFormat::Csv:
    case TextFormat::Tsv:
        rules.kind = RecordKind::Csv;
        rules.delimiter = file.format.format == TextFormat::Tsv ? '\t' : ',';
        break;
    case TextFormat::JsonLines:
        rules.kind = RecordKind::Lines;
        break;
    case TextFormat::Text:
    case TextFormat::Parquet:
        break;
    }
    return rules;
}

struct CsvHeader {
    std::vector<std::string> columns;
    std::uint64_t endOffset = 0;
};

Result<CsvHeader> readCsvHeader(FileAccess& access, const DataFile& file)
{
    const auto skip = static_cast<std::uint64_t>(file.format.skipBytes);
    auto stream = access.plainFrom(file, skip);
    if (!stream.ok())
        return stream.error();
    const RecordRules rules = recordRules(file, {});
    RecordReader reader(std::move(stream).value(), rules, skip);
    Record record;
    auto more = reader.next(record);
    if (!more.ok())
        return more.error();
    if (!more.value())
        return CsvHeader {};
    if (record.tooLong)
        return Error { ErrorCode::Corrupt, sentence("%1 has a first line of more than 16 MiB where the names of the columns should be.", { file.path }) };
    return CsvHeader { csvFields(record.bytes, rules.delimiter), reader.position() };
}

/// Where the first row begins at or after `position`, and the index of the text column for csv.
struct Start {
    std::uint64_t offset = 0;
    int column = 0;
};

Result<Start> findStart(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    Start start;
    start.offset = std::max(position, static_cast<std::uint64_t>(file.format.skipBytes));
    if (file.format.format != TextFormat::Csv && file.format.format != TextFormat::Tsv)
        return start;
    auto header = readCsvHeader(access, file);
    if (!header.ok())
        return header.error();
    const auto& columns = header.value().columns;
    const auto found = std::find(columns.begin(), columns.end(), options.textColumn);
    if (found == columns.end() && !columns.empty())
        return Error { ErrorCode::InvalidArgument, sentence("%1 has no column '%2'.", { file.path, options.textColumn }) };
    start.column = static_cast<int>(found - columns.begin());
    start.offset = std::max(start.offset, header.value().endOffset);
    return start;
}

class RecordScanner : public RowScanner {
public:
    RecordScanner(RecordReader reader, const DataFile& file)
        : reader_(std::move(reader))
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(std::uint64_t& sizeBytes) override
    {
        auto more = reader_.next(record_);
        sizeBytes = record_.sizeBytes;
        return more;
    }
    std::uint64_t position() const override { return reader_.position(); }
    std::uint64_t unit() const override { return (reader_.position() - record_.sizeBytes) / unitBytes_; }

private:
    RecordReader reader_;
    Record record_;
    std::uint64_t unitBytes_;
};

class RecordRows : public RowReader {
public:
    RecordRows(RecordReader reader, const DataFile& file, const RowOptions& options, int column)
        : reader_(std::move(reader))
        , json_(options.textColumn)
        , format_(file.format.format)
        , column_(column)
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        auto more = reader_.next(record_);
        if (!more.ok() || !more.value())
            return more;
        row.sizeBytes = record_.sizeBytes;
        if (record_.tooLong) {
            row.problem = kTooLong;
            return true;
        }
        take(row);
        return true;
    }
    std::uint64_t unit() const override { return (reader_.position() - record_.sizeBytes) / unitBytes_; }

private:
    void take(Row& row)
    {
        switch (format_) {
        case TextFormat::JsonLines:
            row.problem = json_.parse(record_.bytes);
            row.text = json_.text();
            row.repaired = json_.repaired();
            break;
        case TextFormat::Csv:
        case TextFormat::Tsv:
            if (!csvField(record_.bytes, format_ == TextFormat::Tsv ? '\t' : ',', column_, field_))
                row.problem = "has fewer columns than the header";
            else
                row.text = field_;
            break;
        case TextFormat::Text:
        case TextFormat::Parquet:
            row.text = record_.bytes;
            break;
        }
    }

    RecordReader reader_;
    Record record_;
    JsonText json_;
    std::string field_;
    TextFormat format_;
    int column_;
    std::uint64_t unitBytes_;
};

Result<FileColumns> jsonColumns(FileAccess& access, const DataFile& file)
{
    const auto skip = static_cast<std::uint64_t>(file.format.skipBytes);
    auto stream = access.plainFrom(file, skip);
    if (!stream.ok())
        return stream.error();
    RecordReader reader(std::move(stream).value(), recordRules(file, {}), skip);
    FileColumns columns;
    Record record;
    for (int line = 0; line < kColumnLines; ++line) {
        auto more = reader.next(record);
        if (!more.ok())
            return more.error();
        if (!more.value())
            break;
        jsonMembers(record.bytes, columns.all, columns.text);
    }
    return columns;
}

std::string joined(const std::vector<std::string>& names)
{
    std::string all;
    for (const auto& name : names)
        all += (all.empty() ? "" : ", ") + name;
    return all.empty() ? "none" : all;
}

} // namespace

RowOptions rowOptions(const RunConfig& config, const std::string& textColumn)
{
    RowOptions options;
    options.textColumn = textColumn;
    options.text.spanBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(config.spanBytes, 16));
    if (config.dataMode == "paragraphs")
        options.text.kind = RecordKind::Paragraphs;
    else if (config.dataMode == "span")
        options.text.kind = RecordKind::Spans;
    return options;
}

namespace {

    struct Records {
        RecordReader reader;
        int column; // of the text, in CSV
    };

    Result<Records> openRecords(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
    {
        auto start = findStart(access, file, options, position);
        if (!start.ok())
            return start.error();
        auto stream = access.plainFrom(file, start.value().offset);
        if (!stream.ok())
            return stream.error();
        return Records { RecordReader(std::move(stream).value(), recordRules(file, options), start.value().offset), start.value().column };
    }

} // namespace

Result<std::unique_ptr<RowScanner>> openRowScanner(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    if (file.format.format == TextFormat::Parquet) {
        auto source = access.stored(file);
        if (!source.ok())
            return source.error();
        return openParquetScanner(source.value(), file, options, position);
    }
    auto records = openRecords(access, file, options, position);
    if (!records.ok())
        return records.error();
    return std::unique_ptr<RowScanner>(std::make_unique<RecordScanner>(std::move(records).value().reader, file));
}

Result<std::unique_ptr<RowReader>> openRowReader(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    if (file.format.format == TextFormat::Parquet) {
        auto source = access.stored(file);
        if (!source.ok())
            return source.error();
        return openParquetReader(source.value(), file, options, position);
    }
    auto records = openRecords(access, file, options, position);
    if (!records.ok())
        return records.error();
    return std::unique_ptr<RowReader>(std::make_unique<RecordRows>(std::move(records.value().reader), file, options, records.value().column));
}

Result<FileColumns> readColumns(FileAccess& access, const DataFile& file)
{
    switch (file.format.format) {
    case TextFormat::Parquet: {
        auto source = access.stored(file);
        if (!source.ok())
            return source.error();
        return readParquetColumns(source.value(), file.path);
    }
    case TextFormat::JsonLines:
        return jsonColumns(access, file);
    case TextFormat::Csv:
    case TextFormat::Tsv: {
        auto header = readCsvHeader(access, file);
        if (!header.ok())
            return header.error();
        return FileColumns { header.value().columns, header.value().columns, -1 };
    }
    case TextFormat::Text:
        break;
    }
    return FileColumns {};
}

Result<std::string> chooseTextColumn(const FileColumns& columns, const std::string& configured, const std::string& fileName)
{
    const auto has = [](const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    if (!configured.empty()) {
        if (has(columns.text, configured))
            return configured;
        if (has(columns.all, configured))
            return Error { ErrorCode::InvalidArgument, sentence("%1: the column '%2' holds no text. Columns with text are: %3.", { fileName, configured, joined(columns.text) }) };
        return Error { ErrorCode::InvalidArgument, sentence("%1 has no column '%2'. Its columns are: %3.", { fileName, configured, joined(columns.all) }) };
    }
    for (const char* usual : { "text", "content", "sentence", "document", "article", "body" })
        if (has(columns.text, usual))
            return std::string(usual);
    if (columns.text.empty())
        return Error { ErrorCode::InvalidArgument, sentence("%1 has no column with text. Its columns are: %2.", { fileName, joined(columns.all) }) };
    return columns.text.front();
}

} // namespace furrow
