#include "core/data/source/row_reader.h"

#include "core/base/hash.h"
#include "core/base/outside.h"
#include "core/base/sentence.h"
#include "core/chat/answer_pair.h"
#include "core/chat/row_problems.h"
#include "core/data/source/arrow_rows.h"
#include "core/data/source/csv_fields.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/json_text.h"
#include "core/data/source/parquet_rows.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/row_rules.h"
#include "core/data/source/warc_record.h"
#include "core/data/source/web_dataset.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr int kColumnLines = 100;

/// The names that lead to the list of rows of a JSON document.
std::vector<std::string> listMembers(const DataFile& file)
{
    std::vector<std::string> members;
    const auto path = ColumnPath::parse(file.format.list);
    for (const auto& move : path.moves())
        members.push_back(move.name);
    return members;
}

RecordRules recordRules(const DataFile& file, const RowOptions& options)
{
    RecordRules rules = options.text;
    rules.keepsBlanks = file.format.rules >= 3;
    switch (file.format.format) {
    case TextFormat::Csv:
    case TextFormat::Tsv:
        rules.kind = RecordKind::Csv;
        rules.csv = file.format.csv;
        rules.refusesOpenQuotes = file.format.rules >= 2;
        break;
    case TextFormat::JsonLines: rules.kind = RecordKind::Lines; break;
    case TextFormat::JsonList:
        rules.kind = RecordKind::JsonElements;
        rules.listMembers = listMembers(file);
        break;
    case TextFormat::Warc: rules.kind = RecordKind::Warc; break;
    case TextFormat::Text:
    case TextFormat::Parquet:
    case TextFormat::Arrow:
    case TextFormat::WebDataset: break;
    }
    return rules;
}

/// The line on which `offset` of the plain text lies, from 1.
Result<std::uint64_t> lineAt(FileAccess& access, const DataFile& file, std::uint64_t offset)
{
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, 0));
    std::vector<char> piece(1 << 20);
    std::uint64_t line = 1;
    while (offset > 0) {
        FURROW_TRY_ASSIGN(
            auto n, stream->read(std::span<char>(piece).first(std::min<std::uint64_t>(offset, piece.size()))));
        if (n == 0)
            break;
        line += static_cast<std::uint64_t>(
            std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n), '\n'));
        offset -= n;
    }
    return line;
}

/// Why nothing is to be read from a record on. @param offset  where it begins
Error whyStopped(Record::Stop stop, FileAccess& access, const DataFile& file, std::uint64_t offset)
{
    if (stop == Record::Stop::Cut)
        return { ErrorCode::Corrupt,
            sentence("%1 ends in the middle of what begins at byte %2. It is cut off: fetch or write it again.",
                { file.path, std::to_string(offset) }) };
    if (stop == Record::Stop::SecondDocument)
        return { ErrorCode::Corrupt,
            sentence(
                "%1 holds several JSON documents: a second one begins at byte %2, after the end of the first. Join them in one list, or write one object per line (jsonl).",
                { file.path, std::to_string(offset) }) };
    if (stop == Record::Stop::Broken)
        return { ErrorCode::Corrupt,
            sentence("%1 has no row that can be read at byte %2, and no end of its rows. Fetch or write it again.",
                { file.path, std::to_string(offset) }) };
    if (stop == Record::Stop::SecondList)
        return { ErrorCode::Corrupt,
            sentence(
                "%1 has the member '%2' with its rows a second time, after the first. Which one counts is not said: Furrow has read the first, Python and others take the last. Rename or remove one of them.",
                { file.path, file.format.list }) };
    FURROW_TRY_ASSIGN(auto line, lineAt(access, file, offset));
    return { ErrorCode::Corrupt,
        sentence(
            "%1, line %2: a quote that begins in this record is not closed where a field ends, and would swallow the lines after it. Close it, or say with csv_quote, csv_escape or csv_delimiter how the file is written.",
            { file.path, std::to_string(line) }) };
}

/// As Row::problem.
const char* inWords(CsvFit fit)
{
    switch (fit) {
    case CsvFit::Few: return literal(kRowFewColumns);
    case CsvFit::Many: return literal(kRowManyFields);
    case CsvFit::Fits: break;
    }
    return nullptr;
}

bool refusesMoreFields(const DataFile& file) { return file.format.isCsv() && file.format.rules >= 3; }

/// Bytes of csv that are not UTF-8 become U+FFFD.
bool repairs(const DataFile& file) { return file.format.isCsv() && file.format.rules >= kRulesOfBytes; }

/// True: there were such bytes.
bool repair(std::string& text)
{
    if (isValidUtf8(text))
        return false;
    text = replaceInvalidUtf8(text).text;
    return true;
}

struct CsvHeader {
    std::vector<std::string> columns;
    std::uint64_t endOffset = 0;
};

Result<CsvHeader> readCsvHeader(FileAccess& access, const DataFile& file)
{
    const auto skip = static_cast<std::uint64_t>(file.format.skipBytes);
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, skip));
    const RecordRules rules = recordRules(file, {});
    RecordReader reader(std::move(stream), rules, skip);
    Record record;
    FURROW_TRY_ASSIGN(auto more, reader.next(record));
    if (!more)
        return CsvHeader {};
    if (record.tooLong)
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 has a first line of more than 16 MiB where the names of the columns should be.", { file.path }) };
    if (record.stop != Record::Stop::None)
        return whyStopped(record.stop, access, file, reader.position());
    CsvHeader header { csvFields(record.bytes, rules.csv), reader.position() };
    if (!file.format.csv.header) {
        for (std::size_t i = 0; i < header.columns.size(); ++i)
            header.columns[i] = std::to_string(i + 1);
        header.endOffset = skip;
    }
    return header;
}

/// Where the first row begins at or after `position`, and the columns of csv with the index of the text.
struct Start {
    std::uint64_t offset = 0;
    std::size_t column = 0;
    std::vector<std::string> columns {}; ///< of csv
};

/// The offset of the first element.
Result<std::uint64_t> listStart(FileAccess& access, const DataFile& file)
{
    const auto skip = static_cast<std::uint64_t>(file.format.skipBytes);
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, skip));
    auto offset = findJsonList(*stream, listMembers(file), file.path);
    return offset.ok() ? Result<std::uint64_t>(skip + offset.value()) : offset;
}

Result<Start> findStart(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    Start start;
    start.offset = std::max(position, static_cast<std::uint64_t>(file.format.skipBytes));
    if (file.format.format == TextFormat::JsonList && position == 0) {
        FURROW_TRY_ASSIGN(auto list, listStart(access, file));
        start.offset = list;
    }
    if (!file.format.isCsv())
        return start;
    FURROW_TRY_ASSIGN(auto header, readCsvHeader(access, file));
    const auto& columns = header.columns;
    const auto found = std::find(columns.begin(), columns.end(), options.textColumn);
    if (found == columns.end() && !columns.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column '%2'.", { file.path, options.textColumn }) };
    start.column = static_cast<std::size_t>(found - columns.begin());
    start.offset = std::max(start.offset, header.endOffset);
    start.columns = std::move(header.columns);
    return start;
}

/// The next record; what stops the reading is an error with its place.
Result<bool> nextRecord(RecordReader& reader, Record& record, FileAccess& access, const DataFile& file)
{
    auto more = reader.next(record);
    if (more.ok() && more.value() && record.stop != Record::Stop::None)
        return whyStopped(record.stop, access, file, reader.position());
    return more;
}

/// What leads from the document to an element of its list, as columns begin.
std::string elementPrefix(const DataFile& file) { return file.format.list.empty() ? "" : file.format.list + "[]."; }

std::string nameInElement(const DataFile& file, const std::string& column)
{
    const auto prefix = elementPrefix(file);
    return column.starts_with(prefix) ? column.substr(prefix.size()) : column;
}

ColumnPath pathInElement(const DataFile& file, const std::string& column)
{
    if (column == file.format.list + "[]") // the elements are texts
        return {};
    return ColumnPath::parse(nameInElement(file, column));
}

/// Brings the conversations of records into their one form.
class ConversationRows {
public:
    ConversationRows(const DataFile& file, const RowOptions& options, std::vector<std::string> csvColumns)
        : columns_ { options.conversation, nameInElement(file, options.textColumn) }
        , csvColumns_(std::move(csvColumns))
        , csv_(file.format.csv)
        , refusesMore_(refusesMoreFields(file) && !csvColumns_.empty())
        , tellsRepairs_(repairs(file))
    {
    }
    bool any() const { return columns_.form != ConversationForm::None; }

    void take(std::string_view record, Row& row)
    {
        row.isConversation = true;
        if (refusesMore_ && csvField(record, csv_, 0, csvColumns_.size(), text_) == CsvFit::Many) {
            row.problem = inWords(CsvFit::Many);
            return;
        }
        const std::string fromCsv = csvColumns_.empty() ? std::string() : objectOf(record); // repaired
        row.repaired = tellsRepairs_ && !isValidUtf8(record);
        const std::string_view json = csvColumns_.empty() ? record : std::string_view(fromCsv);
        problem_ = readConversation(json, columns_, text_);
        if (!problem_.empty()) {
            if (const auto mended = mendedJson(json); mended != json) {
                problem_ = readConversation(mended, columns_, text_);
                row.repaired = problem_.empty();
            }
        }
        row.problem = problem_.empty() ? nullptr : problem_.c_str();
        row.text = text_;
    }

private:
    std::string objectOf(std::string_view record) const
    {
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        const auto fields = csvFields(record, csv_);
        for (std::size_t i = 0; i < std::min(fields.size(), csvColumns_.size()); ++i)
            object[csvColumns_[i]] = fields[i];
        return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    ConversationColumns columns_;
    std::vector<std::string> csvColumns_;
    CsvDialect csv_;
    bool refusesMore_;
    bool tellsRepairs_;
    std::string text_;
    std::string problem_;
};

class RecordScanner : public RowScanner {
public:
    RecordScanner(RecordReader reader, FileAccess& access, const DataFile& file)
        : reader_(std::move(reader))
        , access_(access)
        , file_(file)
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(std::uint64_t& sizeBytes) override
    {
        auto more = nextRecord(reader_, record_, access_, file_);
        sizeBytes = record_.sizeBytes;
        return more;
    }
    std::uint64_t position() const override { return reader_.position(); }
    std::uint64_t unit() const override { return (reader_.position() - record_.sizeBytes) / unitBytes_; }
    std::uint64_t hash(std::uint64_t before) const override { return xxh3(record_.bytes, before + 1); }

private:
    RecordReader reader_;
    Record record_;
    FileAccess& access_;
    DataFile file_;
    std::uint64_t unitBytes_;
};

class RecordRows : public RowReader {
public:
    RecordRows(RecordReader reader, FileAccess& access, const DataFile& file, const RowOptions& options, Start start)
        : reader_(std::move(reader))
        , access_(access)
        , file_(file)
        , json_(jsonText(file, options.textColumn))
        , column_(start.column)
        , columns_(refusesMoreFields(file) ? start.columns.size() : 0)
        , conversations_(file, options, std::move(start.columns))
        , unitBytes_(unitBytes(file))
    {
    }
    Result<bool> next(Row& row) override
    {
        row = {};
        auto more = nextRecord(reader_, record_, access_, file_);
        if (!more.ok() || !more.value())
            return more;
        row.sizeBytes = record_.sizeBytes;
        if (record_.tooLong) {
            row.problem = literal(kRowTooLong);
            return true;
        }
        if (conversations_.any())
            conversations_.take(record_.bytes, row);
        else
            take(row);
        return true;
    }
    std::uint64_t unit() const override { return (reader_.position() - record_.sizeBytes) / unitBytes_; }
    std::uint64_t hash(std::uint64_t before) const override { return xxh3(record_.bytes, before + 1); }

private:
    void take(Row& row)
    {
        switch (file_.format.format) {
        case TextFormat::JsonLines:
        case TextFormat::JsonList:
            row.problem = json_.parse(record_.bytes);
            row.text = json_.text();
            row.repaired = json_.repaired();
            break;
        case TextFormat::Csv:
        case TextFormat::Tsv:
            row.problem = inWords(csvField(record_.bytes, file_.format.csv, column_, columns_, field_));
            row.repaired = row.problem == nullptr && repairs(file_) && repair(field_);
            row.text = row.problem == nullptr ? field_ : std::string_view();
            break;
        case TextFormat::Warc:
            if (auto found = warcText(record_.bytes)) {
                const bool isAsItStands = file_.format.rules < kRulesOfBytes;
                const WarcText text = isAsItStands ? *found : readableText(*found, field_);
                row.text = text.problem == nullptr ? text.text : std::string_view();
                row.problem = text.problem;
            }
            break;
        case TextFormat::Text:
        case TextFormat::Parquet:
        case TextFormat::Arrow:
        case TextFormat::WebDataset: row.text = record_.bytes; break;
        }
    }

    static JsonText jsonText(const DataFile& file, const std::string& column)
    {
        if (file.format.format == TextFormat::JsonList)
            return JsonText(pathInElement(file, column));
        return file.format.rules >= 2 ? JsonText(ColumnPath::parse(column))
                                      : JsonText(ColumnPath::ofName(column), JsonGrammar::Standard);
    }

    RecordReader reader_;
    Record record_;
    FileAccess& access_;
    DataFile file_;
    JsonText json_;
    std::string field_; ///< of csv; a text of WARC that does not stand in its record
    std::size_t column_; ///< of csv
    std::size_t columns_; ///< of csv; 0: a record may have more
    ConversationRows conversations_;
    std::uint64_t unitBytes_;
};

/// Its first bytes that are no space, which a sentence can show.
std::string beginningOf(std::string_view record)
{
    constexpr std::size_t kShown = 20;
    const auto begin = std::min(record.find_first_not_of(" \t\r\n"), record.size());
    const std::string text = replaceInvalidUtf8(record.substr(begin, 2 * kShown)).text;
    return std::string(cutAtCodePoint(text, kShown));
}

Result<FileColumns> jsonColumns(FileAccess& access, const DataFile& file)
{
    FURROW_TRY_ASSIGN(auto start, findStart(access, file, {}, 0));
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, start.offset));
    RecordReader reader(std::move(stream), recordRules(file, {}), start.offset);
    FileColumns columns;
    Record record;
    bool hasTexts = false; // elements of a list that are texts themselves
    for (int line = 0; line < kColumnLines; ++line) {
        FURROW_TRY_ASSIGN(auto more, nextRecord(reader, record, access, file));
        if (!more) {
            columns.rows = line;
            break;
        }
        jsonMembers(record.bytes, columns.all, columns.text);
        if (columns.firstOther.empty())
            columns.firstOther = beginningOf(record.bytes);
        hasTexts = hasTexts || (file.format.format == TextFormat::JsonList && record.bytes.starts_with('"'));
    }
    for (auto* names : { &columns.all, &columns.text }) {
        for (auto& name : *names)
            name.insert(0, elementPrefix(file));
        if (hasTexts)
            names->push_back(file.format.list + "[]");
    }
    if (!columns.all.empty())
        columns.firstOther.clear();
    return columns;
}

} // namespace

std::optional<std::int64_t> lineOfRow(std::int64_t row, const DataFile& file)
{
    return file.format.format == TextFormat::JsonLines ? std::optional(row + 1) : std::nullopt;
}

Message rowInWords(std::int64_t row, const DataFile& file, const std::string& problem)
{
    if (const auto line = lineOfRow(row, file))
        return sentence("row %1 (line %2) of %3 %4",
            { std::to_string(row), std::to_string(*line), file.path, rowProblem(problem) });
    return sentence("row %1 (counted from 0) of %2 %3", { std::to_string(row), file.path, rowProblem(problem) });
}

namespace {

std::vector<std::string> namesInElement(const DataFile& file, std::vector<std::string> names)
{
    for (auto& name : names)
        name = nameInElement(file, name);
    return names;
}

} // namespace

ConversationColumns findConversationIn(const DataFile& file, const FileColumns& columns, const std::string& wanted)
{
    return findConversation(
        namesInElement(file, columns.all), namesInElement(file, columns.text), nameInElement(file, wanted));
}

ConversationColumns findAnswerPairsIn(const DataFile& file, const FileColumns& columns)
{
    return findAnswerPairs(namesInElement(file, columns.all), namesInElement(file, columns.text));
}

RowOptions rowOptions(const RunConfig& config, const DataSource& source)
{
    RowOptions options;
    options.textColumn = source.textColumn;
    options.conversation = source.conversation;
    options.text.spanBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(config.spanBytes, 16));
    if (config.dataMode == DataMode::Paragraphs)
        options.text.kind = RecordKind::Paragraphs;
    else if (config.dataMode == DataMode::Span)
        options.text.kind = RecordKind::Spans;
    return options;
}

namespace {

struct Records {
    RecordReader reader;
    Start start;
};

Result<Records> openRecords(FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    FURROW_TRY_ASSIGN(auto start, findStart(access, file, options, position));
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, start.offset));
    RecordReader reader(std::move(stream), recordRules(file, options), start.offset);
    return Records { std::move(reader), std::move(start) };
}

} // namespace

Result<std::unique_ptr<RowScanner>> openRowScanner(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    if (file.format.format == TextFormat::Parquet) {
        FURROW_TRY_ASSIGN(auto source, access.stored(file));
        return openParquetScanner(source, file, options, position);
    }
    if (file.format.format == TextFormat::Arrow)
        return openArrowScanner(access, file, position);
    if (file.format.format == TextFormat::WebDataset)
        return openWebScanner(access, file, options, position);
    FURROW_TRY_ASSIGN(auto records, openRecords(access, file, options, position));
    return std::unique_ptr<RowScanner>(std::make_unique<RecordScanner>(std::move(records).reader, access, file));
}

Result<std::unique_ptr<RowReader>> openRowReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position)
{
    if (file.format.format == TextFormat::Parquet) {
        FURROW_TRY_ASSIGN(auto source, access.stored(file));
        return openParquetReader(source, file, options, position);
    }
    if (file.format.format == TextFormat::Arrow)
        return openArrowReader(access, file, options, position);
    if (file.format.format == TextFormat::WebDataset)
        return openWebReader(access, file, options, position);
    FURROW_TRY_ASSIGN(auto records, openRecords(access, file, options, position));
    return std::unique_ptr<RowReader>(
        std::make_unique<RecordRows>(std::move(records.reader), access, file, options, std::move(records.start)));
}

Result<FileColumns> readColumns(FileAccess& access, const DataFile& file)
{
    switch (file.format.format) {
    case TextFormat::Parquet: {
        FURROW_TRY_ASSIGN(auto source, access.stored(file));
        return readParquetColumns(source, file.path);
    }
    case TextFormat::Arrow: return readArrowColumns(access, file);
    case TextFormat::WebDataset: return readWebColumns(access, file);
    case TextFormat::JsonLines:
    case TextFormat::JsonList: return jsonColumns(access, file);
    case TextFormat::Csv:
    case TextFormat::Tsv: {
        FURROW_TRY_ASSIGN(auto header, readCsvHeader(access, file));
        return FileColumns { header.columns, header.columns, -1 };
    }
    case TextFormat::Text:
    case TextFormat::Warc: break;
    }
    return FileColumns {};
}

Result<double> textAmount(FileAccess& access, const DataFile& file, const std::string& column)
{
    constexpr int kRows = 100;
    constexpr std::uint64_t kBytes = 4 << 20;
    if (file.format.format == TextFormat::Parquet && isDistantPath(file.path)) {
        FURROW_TRY_ASSIGN(auto source, access.stored(file));
        return parquetShare(source, file, column);
    }
    RowOptions options;
    options.textColumn = column;
    std::uint64_t text = 0;
    std::uint64_t stored = 0;
    int rows = 0;
    auto reader = openRowReader(access, file, options, 0);
    for (Row row; reader.ok() && rows < kRows && stored < kBytes; ++rows) {
        const auto more = reader.value()->next(row);
        if (!more.ok() && isOutside(more.error()))
            return more.error();
        if (!more.ok() || !more.value()) // what is damaged is told by those who read it to train it
            break;
        text += row.problem == nullptr ? row.text.size() : 0;
        stored += row.sizeBytes;
    }
    if (!reader.ok() && isOutside(reader.error()))
        return reader.error();
    return rows > 0 ? static_cast<double>(text) / rows : 0.0;
}

} // namespace furrow
