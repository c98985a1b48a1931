#include "core/data/plan/inspect.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/outside.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/chat/row_problems.h"
#include "core/config/option_term.h"
#include "core/config/secret_address.h"
#include "core/data/source/archive_files.h"
#include "core/data/source/cached_access.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/fraction_draw.h"
#include "core/data/hub/hub_files.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/web_files.h"
#include "core/data/source/csv_fields.h"
#include "core/data/source/parquet_rows.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/json_text.h"
#include "core/data/source/row_reader.h"
#include "core/data/plan/passed_over.h"
#include "core/data/plan/row_walk.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/source_files.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace furrow {

namespace {

constexpr std::uint64_t kCountBytes = 256ull << 20; ///< rows are counted exactly up to this much text
constexpr std::uint64_t kSampledBytes = 8ull << 20; ///< beyond, the mean row of so much text is taken
constexpr std::uint64_t kRemoteSampledBytes = 1ull << 20; ///< the same, of a file on the hub
constexpr std::size_t kMaxFooters = 32; ///< of Parquet files on the hub that are asked for their number of rows
constexpr std::size_t kFirstRows = 5;
constexpr std::size_t kFirstRowBytes = 2000;
constexpr std::int64_t kMinBlocks = 3;

using Progress = std::function<bool(double)>;

Error cancelled() { return { ErrorCode::Cancelled, sentence("Looking at the data was cancelled.") }; }

/// The file with its format, or the files inside it when it is an archive.
Status addFiles(const std::string& path, const RunConfig& config, DataSource& source)
{
    auto file = describeFile(path);
    FURROW_TRY_ASSIGN(
        auto bytes, file.ok() ? openLocalSource(path) : Result<std::shared_ptr<const ByteSource>>(file.error()));
    FURROW_TRY_ASSIGN(auto archive, describeArchive(file.value(), bytes, config));
    if (archive) {
        std::move(archive->files.begin(), archive->files.end(), std::back_inserter(source.files));
        std::move(archive->skipped.begin(), archive->skipped.end(), std::back_inserter(source.skipped));
        return {};
    }
    FURROW_TRY_ASSIGN(auto format, detectFormat(bytes, path, config));
    if (file.value().sizeBytes == 0)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is empty.", { path }) };
    file.value().format = format;
    source.files.push_back(std::move(file).value());
    return {};
}

/// Opens the files of one source, finds their formats, and leaves out what is no text (an error for a single file).
Result<DataSource> describeSource(const std::string& spec, const RunConfig& config, const Progress& progress)
{
    if (auto secret = whySecretAddress("data", spec); !secret.empty()) // of commands that make no run, too
        return Error { ErrorCode::InvalidArgument, std::move(secret) };
    if (isHubPath(spec))
        return describeHubSource(spec, config, sharedHubClient());
    if (isWebPath(spec))
        return describeWebSource(spec, config, sharedHubClient());
    FURROW_TRY_ASSIGN(auto found, findSourceFiles(spec));
    DataSource source;
    source.spec = spec;
    source.skipped = found.skipped;
    const auto& paths = found.paths;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (progress && !progress(static_cast<double>(i) / static_cast<double>(paths.size())))
            return cancelled();
        if (!isValidUtf8(paths[i]))
            return Error { ErrorCode::InvalidArgument,
                sentence("The name of %1 is not UTF-8, so a run cannot keep it. Rename the file.",
                    { replaceInvalidUtf8(paths[i]).text }) };
        Status status = addFiles(paths[i], config, source);
        // Damaged or away is not "no data": it would be missing without a word.
        const bool isData = !status.ok() && (status.error().code == ErrorCode::Corrupt || isOutside(status.error()));
        if (!status.ok() && (found.single || isData))
            return status.error();
        if (!status.ok())
            source.skipped.push_back(status.error().message);
    }
    if (source.files.empty())
        return Error { ErrorCode::InvalidArgument,
            source.skipped.empty() ? sentence("%1 has no file with text.", { spec })
                                   : sentence("%1 has no file with text. %2", { spec, source.skipped.front() }) };
    return source;
}

/// What is left out of a folder may be as many files as it has.
void nameSomeOfTheSkipped(DataSource& source)
{
    constexpr std::size_t kMostNamed = 20;
    auto& skipped = source.skipped;
    if (skipped.size() <= kMostNamed)
        return;
    const auto more = static_cast<std::int64_t>(skipped.size() - kMostNamed);
    skipped.resize(kMostNamed);
    skipped.push_back(sentence("%1: %2 more files in it were left out.", { source.spec, Count(more) }));
}

/// How files are read, once for each way in which some of the source are.
void describeReading(const DataSource& source, DataInspection& inspection)
{
    if (isWebPath(source.spec))
        inspection.reading.push_back(whereFrom(source));
    if (!source.chosen.empty())
        inspection.reading.push_back(source.chosen);
    constexpr std::size_t kMostWays = 5;
    std::vector<std::vector<Message>> ways;
    for (const auto& file : source.files) {
        auto way = readingOf(file.format, "");
        if (ways.size() >= kMostWays || std::find(ways.begin(), ways.end(), way) != ways.end())
            continue;
        ways.push_back(std::move(way));
        for (auto& text : readingOf(file.format, file.path))
            inspection.reading.push_back(std::move(text));
    }
}

bool canHoldConversations(TextFormat format)
{
    return format == TextFormat::JsonLines || format == TextFormat::JsonList || format == TextFormat::Csv
        || format == TextFormat::Tsv || format == TextFormat::Parquet;
}

/// The column of a file, as that of conversations where there is a chat template and the columns are those of some.
Result<ColumnChoice> chooseContent(FileAccess& access, const DataFile& file, const FileColumns& columns,
    const RunConfig& config, bool hasTemplate, DataSource& source)
{
    const bool isFirst = source.textColumn.empty();
    const std::string& wanted = isFirst ? config.textColumn : source.textColumn;
    const bool isList
        = source.conversation == ConversationForm::Messages || source.conversation == ConversationForm::ShareGpt;
    const auto found = isFirst || source.conversation != ConversationForm::None
        ? findConversationIn(file, columns, isFirst || isList ? wanted : std::string())
        : ConversationColumns {};
    if (found.form == ConversationForm::None || !hasTemplate) {
        FURROW_TRY_ASSIGN(auto choice, chooseTextColumn(columns, wanted, file.path, [&](const std::string& column) {
            return textAmount(access, file, column);
        }));
        if (found.form == ConversationForm::Messages || found.form == ConversationForm::ShareGpt)
            choice.says.push_back(sentence(
                "The column %1 holds conversations. With a chat_template they are trained as such; without one their texts are plain text.",
                { found.column }));
        return choice;
    }
    if (!canHoldConversations(file.format.format))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 holds conversations in the column %2, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl, or set chat_template to none to train its texts as plain text.",
                { file.path, found.column }) };
    if (!isFirst && found.form != source.conversation)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 holds conversations in the form '%2', the files before it in the form '%3'. Name them as two sources.",
                { file.path, toString(found.form), toString(source.conversation) }) };
    const auto prefix = file.format.list.empty() ? "" : file.format.list + "[].";
    source.conversation = found.form;
    ColumnChoice choice { prefix + found.column,
        { sentence("The rows are conversations (%1, column %2): the chat template writes them, answers are learnt.",
            { toString(found.form), found.column }) },
        {} };
    if (found.form == ConversationForm::Alpaca
        && std::find(columns.all.begin(), columns.all.end(), "history") != columns.all.end())
        choice.says.push_back(sentence(
            "The column history is not read: a row is one question with its answer. Write earlier turns as messages."));
    return choice;
}

/// Text behind a closing quote ("q"tail) is part of its field, which may not be meant. Looks at the beginning only.
Status sayWhatStandsBehindQuotes(FileAccess& access, const DataFile& file, DataInspection& inspection)
{
    constexpr std::size_t kLooked = 64 << 10;
    FURROW_TRY_ASSIGN(auto stream, access.plainFrom(file, 0));
    std::string head(kLooked, '\0');
    FURROW_TRY_ASSIGN(const auto size, readFully(*stream, head));
    std::string_view rest = std::string_view(head).substr(0, size);
    for (std::int64_t record = 0; !rest.empty(); ++record) {
        CsvRecordEnd end(file.format.csv);
        const auto behind = end.find(rest.data(), rest.size());
        if (end.hasTail()) {
            inspection.reading.push_back(sentence(
                "%1 has text after the closing quote of a field (record %2): it is kept as part of the field. Check whether a quote or a delimiter is missing.",
                { file.path, Count(record + 1) }));
            return {};
        }
        rest = behind == CsvRecordEnd::kNone ? std::string_view() : rest.substr(behind);
    }
    return {};
}

/// Of a file that has not the column which the files before it decided for.
Error noSuchColumn(const DataFile& file, const DataFile& first, const std::string& column, const FileColumns& columns)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 has no text in a column '%2', which was found in %3 and counts for all files of a source. Its columns with text are: %4. Name a column that all of them have with text_column, name this file as a source of its own, or leave it out.",
            { file.path, column, first.path, shownNames(columns.text) }) };
}

/// Of JSON of which no row has columns. @param first  how its first row begins
Error noObjects(const DataFile& file, const std::string& first)
{
    return { ErrorCode::InvalidArgument,
        first.starts_with('[')
            ? sentence(
                  "%1: its rows are lists, and in a list no column can be named. Write each object of them as a row of its own, all in one list or one per line (jsonl).",
                  { file.path })
            : sentence(
                  "%1: none of its first rows is a JSON object with members, the first begins with %2. Write each row as an object with a member that holds its text, one per line (jsonl).",
                  { file.path, first }) };
}

/// A JSON document of which nobody said what its rows are: all texts of its list would become one.
bool isListInOneDocument(const DataFile& file, const FileColumns& columns, const std::string& column)
{
    return file.format.format == TextFormat::JsonLines && dataExtension(file.path) == "json" && columns.rows == 1
        && column.find("[]") != std::string::npos;
}

Error askForTheList(const DataFile& file, const std::string& column)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 is one JSON document, and its texts stand in a list of it. Name them with text_column, and each element of the list is a row (%2); or write one object per line (jsonl), and each is a row.",
            { file.path, optionTerm("text_column", column) }) };
}

/// One column for all files of a source; a file without it is refused by name.
Status chooseColumn(
    FileAccess& access, const RunConfig& config, bool hasTemplate, DataSource& source, DataInspection& inspection)
{
    const DataFile* first = nullptr; ///< that decided
    for (const auto& file : source.files) {
        if (file.format.format == TextFormat::Text || file.format.format == TextFormat::Warc)
            continue;
        FURROW_TRY_ASSIGN(auto columns, readColumns(access, file));
        if (columns.all.empty() && file.format.endsLinesAtCarriageReturns)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 has carriage returns and no line feed. A line ends at a line feed, so all of it is one row, which is not JSON; convert them (tr '\\r' '\\n' < FILE).",
                    { file.path }) };
        if (!columns.firstOther.empty())
            return noObjects(file, columns.firstOther);
        auto found = chooseContent(access, file, columns, config, hasTemplate, source);
        const bool isOther = first != nullptr
            && (found.ok() ? found.value().column != source.textColumn
                           : config.textColumn.empty() && source.conversation == ConversationForm::None
                        && found.error().code == ErrorCode::InvalidArgument);
        if (isOther)
            return noSuchColumn(file, *first, source.textColumn, columns);
        FURROW_TRY_ASSIGN(const auto column, std::move(found));
        if (source.conversation == ConversationForm::None && isListInOneDocument(file, columns, column.column))
            return askForTheList(file, column.column);
        if (first == nullptr) {
            first = &file;
            source.textColumn = column.column;
            for (const Message& says : column.says) // of several sources it must be clear which one is meant
                inspection.reading.push_back(config.data.size() > 1 ? sentence("%1: %2", { file.path, says }) : says);
            if (file.format.isCsv() && !isDistantPath(file.path))
                FURROW_TRY(sayWhatStandsBehindQuotes(access, file, inspection));
        }
        if (inspection.columns.empty()) {
            inspection.columns = columns.all;
            inspection.textColumns = columns.text;
            inspection.textColumn = source.textColumn;
        }
        if (inspection.conversations.empty())
            inspection.conversations = toString(source.conversation);
        const bool onlyBySample = (file.format.format == TextFormat::JsonLines
            || file.format.format == TextFormat::JsonList); // members may be missing in some lines
        if (isDistantPath(file.path) || (onlyBySample && source.files.size() > 1000))
            break; // opening each of thousands of files takes too long; rows without the member are counted as
                   // unreadable
    }
    return {};
}

/// Which part of the rows of Parquet files is chosen, 0..1, as far as the first file tells.
Result<double> shareOfRows(FileAccess& access, const RunConfig& config, const DataSource& source)
{
    if (config.maxSamples == 0)
        return config.fraction;
    const DataFile& first = source.files.front();
    FURROW_TRY_ASSIGN(const FileColumns columns, readColumns(access, first)); // the footer knows its rows
    const double all = static_cast<double>(columns.rows) * static_cast<double>(source.sizeBytes())
        / static_cast<double>(std::max<std::uint64_t>(1, first.sizeBytes));
    return std::min(config.fraction, static_cast<double>(config.maxSamples) / std::max(1.0, all));
}

/// Parquet of the hub that is nearly all text is fetched whole: that costs next to nothing, and only so its SHA-256
/// can be checked, before a row of it is trained.
Status chooseWhatIsFetched(FileAccess& access, const RunConfig& config, DataSource& source, DataInspection& inspection)
{
    constexpr double kNearlyAll = 0.95;
    constexpr double kMostOfTheRows = 0.5; ///< from here on a file is fetched whole: it can be checked then
    if (source.files.empty() || !isHubPath(source.files.front().path)
        || source.files.front().format.format != TextFormat::Parquet || source.files.front().member)
        return {};
    auto& first = source.files.front(); // files of one source are alike
    FURROW_TRY_ASSIGN(auto bytes, access.stored(first));
    FURROW_TRY_ASSIGN(
        auto share, parquetShare(bytes, first, textColumns({ source.conversation, source.textColumn }).front()));
    if (share < kNearlyAll) {
        inspection.warnings.push_back(sentence(
            "%1: only the column '%2' is fetched (%3 % of the files), so what arrives cannot be compared with the SHA-256 that the hub promises.",
            { source.spec, source.textColumn, Real(100 * share, 0) }));
        return {};
    }
    FURROW_TRY_ASSIGN(const double needed, shareOfRows(access, config, source));
    if (needed < kMostOfTheRows) {
        inspection.warnings.push_back(sentence(
            "%1: about %2 % of its rows are needed, and only the row groups with them are fetched, so what arrives cannot be compared with the SHA-256 that the hub promises.",
            { source.spec, Real(100 * needed, 1) }));
        return {};
    }
    for (auto& file : source.files)
        file.fetchWhole = file.format.format == TextFormat::Parquet && isComparable(file);
    const auto cacheBytes = static_cast<std::uint64_t>(config.cacheGiB * 1024 * 1024 * 1024);
    for (const auto& file : source.files)
        if (const auto why = whyNotCompared(file, cacheBytes); !why.empty()) {
            inspection.warnings.push_back(
                sentence("%1 is not compared with the SHA-256 that the hub promises: %2.", { file.path, why }));
            break; // one stands for all
        }
    return {};
}

/// Rows of one file: exact while `budget` bytes of text are left, else estimated from the first part.
struct RowCount {
    double rows = 0;
    bool exact = true;
    std::uint64_t largest = 0; ///< bytes of the largest row that was seen
    std::uint64_t textBytes = 0; ///< of all rows, when they were all counted
};
Result<RowCount> countRows(DirectAccess& access, const DataFile& file, const RunConfig& config,
    const RowOptions& options, const std::function<bool(std::uint64_t)>& isChosen, std::uint64_t& budget,
    const Progress& progress)
{
    FURROW_TRY_ASSIGN(auto scanner, openRowScanner(access, file, options, 0));
    const bool metadataOnly = file.format.format == TextFormat::Parquet;
    const std::uint64_t expansion = file.isCompressed() ? 4 : 1;
    const bool remote = isDistantPath(file.path);
    const bool whole = metadataOnly || (!remote && file.sizeBytes * expansion <= budget);
    const std::uint64_t stop = whole ? UINT64_MAX : remote ? kRemoteSampledBytes : kSampledBytes;
    RowCount count;
    std::uint64_t bytes = 0;
    for (std::uint64_t size = 0;;) {
        const auto more = scanner->next(size);
        if (!more.ok() && access.asksAnew(file, 0, more.error()))
            return countRows(access, file, config, options, isChosen, budget, progress);
        if (!more.ok() && PassedOver::takes(config, more.error())) { // what stands behind it nobody can count
            count.exact = false;
            return count;
        }
        if (!more.ok())
            return more.error();
        if (!more.value()) {
            budget -= metadataOnly ? 0 : std::min(budget, bytes);
            count.textBytes = bytes;
            return count;
        }
        count.rows += isChosen(scanner->unit()) ? 1 : 0;
        bytes += size;
        count.largest = std::max(count.largest, size);
        if (bytes >= stop)
            break;
        if (static_cast<std::int64_t>(count.rows) % 65536 == 0 && progress
            && !progress(static_cast<double>(bytes) / static_cast<double>(file.sizeBytes * expansion)))
            return cancelled();
    }
    // A compressed file is taken to hold four times its size of text, and at least what was seen of it.
    count.rows *= std::max(1.0, static_cast<double>(file.sizeBytes * expansion) / static_cast<double>(bytes));
    count.exact = false;
    return count;
}

Status countAllRows(DirectAccess& access, const DataManifest& manifest, const RunConfig& config,
    DataInspection& inspection, const Progress& progress)
{
    std::uint64_t budget = kCountBytes;
    double sum = 0;
    bool exact = true;
    std::uint64_t largest = 0;
    const RowChoice choice(config, manifest);
    for (std::size_t s = 0; s < manifest.sources.size(); ++s) {
        const auto& source = manifest.sources[s];
        double rows = 0;
        const bool remote = isDistantPath(source.spec);
        std::uint64_t counted = 0;
        for (std::size_t f = 0; f < source.files.size(); ++f) {
            const auto& file = source.files[f];
            if (remote && counted > 0
                && (file.format.format != TextFormat::Parquet || source.files.size() > kMaxFooters)) {
                rows *= static_cast<double>(source.sizeBytes())
                    / static_cast<double>(counted); // the first file stands for all
                exact = false;
                break;
            }
            counted += file.sizeBytes;
            if (!choice.keepsFile(s, f))
                continue;
            FURROW_TRY_ASSIGN(auto count,
                countRows(
                    access, file, config, rowOptions(config, source),
                    [&](std::uint64_t unit) { return choice.keeps(s, f, unit); }, budget, progress));
            rows += count.rows;
            exact = exact && count.exact;
            largest = std::max(largest, count.largest);
            if (!file.isStoredPlain() && fillsCache(file))
                inspection.expandedBytes = std::max(inspection.expandedBytes, count.textBytes);
        }
        rows = std::max(0.0, rows - static_cast<double>(config.startSample));
        if (config.maxSamples > 0)
            rows = std::min(rows, static_cast<double>(config.maxSamples));
        sum += rows;
    }
    inspection.rows = static_cast<std::int64_t>(sum);
    inspection.rowsExact = exact;
    inspection.chunksExact
        = largest <= static_cast<std::uint64_t>(config.chunkBytes) / static_cast<std::uint64_t>(config.chunkSamples);
    return {};
}

/// The rule for small data: at least three blocks, a block no smaller than a chunk where that is possible.
void chooseBlockSize(const RunConfig& config, std::size_t sources, DataInspection& inspection)
{
    inspection.samplesPerBlock = config.samplesPerBlock;
    const std::int64_t rows = inspection.rows;
    if (rows < kMinBlocks * config.samplesPerBlock) {
        std::int64_t size = std::max<std::int64_t>(1, rows / kMinBlocks);
        if (size > config.chunkSamples)
            size -= size % config.chunkSamples;
        inspection.samplesPerBlock = std::min(size, config.samplesPerBlock);
    }
    if (inspection.samplesPerBlock != config.samplesPerBlock)
        inspection.samplesPerBlockReason
            = sentence("The data has %1 samples: %2 in a block would give fewer than %3 blocks, so a block has %4.",
                { inspection.rowsExact ? Argument(Count(rows)) : sentence("about %1", { Count(rows) }),
                    Count(config.samplesPerBlock), std::to_string(kMinBlocks), Count(inspection.samplesPerBlock) });
    if (!inspection.rowsExact || sources != 1)
        return;
    const std::int64_t size = inspection.samplesPerBlock;
    const auto chunksOf = [&](std::int64_t n) { return (n + config.chunkSamples - 1) / config.chunkSamples; };
    inspection.blocks = (rows + size - 1) / size;
    inspection.chunks = rows / size * chunksOf(size) + chunksOf(rows % size);
}

Status readEachRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left = nullptr);

/// Why the first row cannot be used; "" where it can.
Result<std::string> firstProblem(const RunConfig& config, const DataSource& source)
{
    DirectAccess access;
    FURROW_TRY_ASSIGN(auto reader, openRowReader(access, source.files.front(), rowOptions(config, source), 0));
    Row row;
    const auto more = reader->next(row);
    if (!more.ok() && PassedOver::takes(config, more.error()))
        return std::string(literal(kRowDamaged));
    if (!more.ok())
        return more.error();
    return std::string(more.value() && row.problem != nullptr ? row.problem : "");
}

/// Its name says text, and so it is read; a person may have meant its columns.
void sayThatItIsJson(const DataFile& file, DataInspection& inspection)
{
    if (file.format.format != TextFormat::Text || dataExtension(file.path) != "txt" || inspection.firstRows.empty())
        return;
    const std::string_view row = inspection.firstRows.front();
    if (isJsonObject(row.substr(0, row.find('\n'))))
        inspection.reading.push_back(sentence(
            "%1 is text by its name, and is trained as it stands, though its lines are JSON objects. Name it .jsonl to train a column of them.",
            { file.path }));
}

/// Fills firstRows. A data set of which the first conversations are all refused is refused with the reason.
Status readFirstRows(const RunConfig& config, const DataManifest& manifest, DataInspection& inspection)
{
    constexpr int kMostRefused = 100;
    constexpr std::int64_t kLongestNs = 5'000'000'000; // of rows that are refused: a template may count for long
    const std::int64_t start = systemClock().monotonicNs();
    std::optional<ConversationRenderer> renderer;
    if (manifest.chat) {
        FURROW_TRY_ASSIGN(renderer, ConversationRenderer::open(*manifest.chat));
    }
    int refused = 0;
    Message why;
    FURROW_TRY(readEachRow(config, inspection.manifest, [&](const Row& row, RowPlace) -> Result<bool> {
        ConversationText written { std::string(row.text), {} };
        if (row.isConversation) {
            auto conversation = renderer->write(row.text, config.chatLoss);
            if (!conversation.ok()) {
                why = why.empty() ? conversation.error().message : why;
                return ++refused < kMostRefused && systemClock().monotonicNs() - start < kLongestNs;
            }
            written = std::move(conversation).value();
        }
        const std::string_view text = written.text;
        const bool valid = isValidUtf8(text.substr(0, kFirstRowBytes + 4));
        inspection.firstRows.emplace_back(
            valid ? cutAtCodePoint(text, kFirstRowBytes) : text.substr(0, kFirstRowBytes));
        inspection.firstLearnt.push_back(std::move(written.learnt));
        return inspection.firstRows.size() < kFirstRows;
    }));
    sayThatItIsJson(manifest.sources.front().files.front(), inspection);
    const bool areConversations = manifest.sources.front().conversation != ConversationForm::None;
    if (inspection.firstRows.empty() && why.empty()) {
        FURROW_TRY_ASSIGN(why, firstProblem(config, manifest.sources.front()));
    }
    if (inspection.firstRows.empty() && !why.empty() && areConversations)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "No conversation of %1 can be trained: the first one %2. A template that marks with {% generation %} what the assistant writes fits all conversations; with chat_loss last one without it fits more.",
                { config.data.front(), why }) };
    if (inspection.firstRows.empty())
        inspection.warnings.push_back(why.empty()
                ? sentence("The filters leave no row of the data.")
                : sentence("No row of the data is left: the first one %1, and the filters leave none that can be read.",
                      { why }));
    return {};
}

/// A file that is in the data twice, by its own name or as a copy.
struct RepeatedFile {
    const DataFile& file;
    const DataFile& first;
    const DataSource& source; ///< of `file`
    const DataSource& firstSource;
    bool isNamedTwice() const { return first.path == file.path; }
};
std::vector<RepeatedFile> repeatedFiles(const DataManifest& manifest)
{
    std::vector<RepeatedFile> repeated;
    std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::pair<const DataFile*, const DataSource*>> seen;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files) {
            const auto place = file.member ? file.member->offset : 0;
            const auto [first, isNew] = seen.try_emplace(
                { file.hash.empty() ? file.pathOnDisk() : file.hash, file.bytesOnDisk(), place }, &file, &source);
            if (!isNew)
                repeated.push_back({ file, *first->second.first, source, *first->second.second });
        }
    return repeated;
}

/// Its rows are trained twice in each epoch, which nobody may want, or are all left out as repeats.
void warnOfRepeats(const DataManifest& manifest, DataInspection& inspection)
{
    constexpr std::ptrdiff_t kMostNamed = 5;
    const auto repeated = repeatedFiles(manifest);
    for (const auto& one : std::span(repeated).first(std::min(repeated.size(), std::size_t { kMostNamed }))) {
        const std::string& path = one.file.path;
        if (manifest.skipsAllDuplicates)
            inspection.warnings.push_back(one.isNamedTwice()
                    ? sentence("%1 is in the data twice: its rows are trained once, as repeats are left out.", { path })
                    : sentence("%1 has the content of %2: its rows are trained once, as repeats are left out.",
                          { path, one.first.path }));
        else
            inspection.warnings.push_back(one.isNamedTwice()
                    ? sentence(
                          "%1 is in the data twice: its rows are trained twice in each epoch. Name it once if that is not meant.",
                          { path })
                    : sentence(
                          "%1 has the content of %2: its rows are trained twice in each epoch. Leave one out if that is not meant.",
                          { path, one.first.path }));
    }
    if (std::ssize(repeated) > kMostNamed)
        inspection.warnings.push_back(
            sentence("%1 more files are in the data more than once.", { Count(std::ssize(repeated) - kMostNamed) }));
}

/// The ledger counts how often a row of a file took part, and cannot know that two of them are one.
Status refuseRepeatsInPrivate(const RunConfig& config, const DataManifest& manifest)
{
    if (config.noiseMultiplier == 0 || manifest.skipsAllDuplicates)
        return {};
    const auto repeated = repeatedFiles(manifest);
    if (repeated.empty())
        return {};
    const RepeatedFile& one = repeated.front();
    return Error { ErrorCode::InvalidArgument,
        one.isNamedTwice()
            ? sentence(
                  "%1 is in the data twice, by %2 and by %3: each of its rows would take part twice in an epoch, and private training would state half of that. Name it once, or train the first of equal texts alone (%4).",
                  { one.file.path, one.firstSource.spec, one.source.spec, optionTerm("duplicates", "skip") })
            : sentence(
                  "%1 has the content of %2: each of its rows would take part twice in an epoch, and private training would state half of that. Leave one of them out, or train the first of equal texts alone (%3).",
                  { one.file.path, one.first.path, optionTerm("duplicates", "skip") }) };
}

/// A fraction is drawn in whole stretches: which draw comes near to it, and where none does.
Status chooseDraws(FileAccess& access, const RunConfig& config, DataManifest& manifest, DataInspection& inspection)
{
    for (std::size_t s = 0; config.fraction < 1 && s < manifest.sources.size(); ++s) {
        FURROW_TRY_ASSIGN(const auto units, unitsToDraw(access, config, manifest, s));
        FURROW_TRY_ASSIGN(const auto nearest, nearestDraw(config, manifest, s, units));
        manifest.sources[s].fractionDraw = nearest.draw;
        if (nearest.isFar(config.fraction))
            inspection.warnings.push_back(sentence(
                "%1: a fraction is drawn in whole stretches of the files (row groups of Parquet). Of the %2 that there are, those that come nearest to %3 % are %4 % of the data.",
                { manifest.sources[s].spec, Count(nearest.units), Real(100 * config.fraction, 2),
                    Real(100 * nearest.share, 2) }));
    }
    return {};
}

Result<DataInspection> inspectOnce(const RunConfig& config, const Progress& progress)
{
    const PassedOver passed;
    DataInspection inspection;
    DataManifest manifest;
    FURROW_TRY_ASSIGN(manifest.quarantine, readQuarantineFile(config.exclude));
    manifest.skipsAllDuplicates = config.duplicates == Duplicates::Skip;
    FURROW_TRY_ASSIGN(const auto list, Quarantine::parse(manifest.quarantine));
    manifest.trainsCopiesOfExcluded = manifest.skipsAllDuplicates && !list->chunks().empty();
    FURROW_TRY_ASSIGN(auto chat, chatFormatOf(config));
    DirectAccess access;
    for (const auto& spec : config.data) {
        FURROW_TRY_ASSIGN(auto source, describeSource(spec, config, progress));
        nameSomeOfTheSkipped(source);
        describeReading(source, inspection);
        FURROW_TRY(chooseColumn(access, config, chat.has_value(), source, inspection));
        FURROW_TRY(chooseWhatIsFetched(access, config, source, inspection));
        inspection.files += static_cast<std::int64_t>(source.files.size());
        inspection.bytes += source.sizeBytes();
        inspection.warnings.insert(inspection.warnings.end(), source.skipped.begin(), source.skipped.end());
        manifest.sources.push_back(std::move(source));
    }
    FURROW_TRY(refuseRepeatsInPrivate(config, manifest));
    warnOfRepeats(manifest, inspection);
    if (!inspection.conversations.empty())
        manifest.chat = std::move(chat);
    FURROW_TRY(chooseDraws(access, config, manifest, inspection));
    inspection.manifest = writeManifest(manifest);
    inspection.identity = dataIdentity(manifest, config);
    FURROW_TRY(countAllRows(access, manifest, config, inspection, progress));
    if (inspection.rows == 0)
        return Error { ErrorCode::InvalidArgument,
            config.startSample > 0 ? sentence("%1 has no rows after start_sample.", { config.data.front() })
                : config.fraction < 1
                ? sentence("A fraction of %1 takes no row of %2. Take a larger one, or max_samples.",
                      { std::to_string(config.fraction), config.data.front() })
                : sentence("%1 has no rows.", { config.data.front() }) };
    chooseBlockSize(config, manifest.sources.size(), inspection);
    for (const ChunkName& chunk : list->chunks())
        if (inspection.blocks && chunk.block >= *inspection.blocks)
            inspection.warnings.push_back(sentence(
                "The list of what is left out names chunk %1:%2, and the data has %3 blocks: this entry means nothing.",
                { std::to_string(chunk.block), std::to_string(chunk.column), Count(*inspection.blocks) }));
    FURROW_TRY(readFirstRows(config, manifest, inspection));
    passed.addTo(inspection.warnings);
    if (progress)
        progress(1);
    return inspection;
}

Status readEachRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left)
{
    FURROW_TRY_ASSIGN(const auto read, readManifest(manifest));
    FURROW_TRY_ASSIGN(const auto rules, sampleRules(config, read));
    RowsLeft unasked;
    RowsLeft& others = left != nullptr ? *left : unasked;
    return walkRows(config, read, [&](const Row& row, const WalkedRow& at) -> Result<Walk> {
        if (row.isDamaged) { // as in training
            ++others.filtered;
            return Walk::On;
        }
        if (row.problem != nullptr) {
            if (others.unreadable++ == 0)
                others.firstUnreadable = rowInWords(at.place.row, at.file, row.problem);
            return Walk::On;
        }
        FURROW_TRY_ASSIGN(const bool isLeftOut, rules.isLeftOut(row.text));
        if (isLeftOut) {
            ++others.filtered;
            return Walk::On;
        }
        FURROW_TRY_ASSIGN(const bool goesOn, onRow(row, at.place));
        return goesOn ? Walk::On : Walk::End;
    });
}

/// What came of distant files was wrong, perhaps, or what was kept of it: it is asked for anew.
bool doubtWhatCame(const Error& error)
{
    const auto pieces = error.code == ErrorCode::Corrupt ? KeepHubPieces::current() : nullptr;
    return pieces && pieces->forgetSeen();
}

} // namespace

Result<DataInspection> inspectData(const RunConfig& config, const Progress& progress)
{
    if (config.data.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("No data is chosen. Name a file, a folder, a pattern or hf://owner/name.") };
    auto found = inspectOnce(config, progress);
    return !found.ok() && doubtWhatCame(found.error()) ? inspectOnce(config, progress) : found;
}

Status forEachText(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(std::string_view)>& onText)
{
    FURROW_TRY_ASSIGN(const auto read, readManifest(manifest));
    std::optional<ConversationRenderer> renderer;
    if (read.chat) {
        FURROW_TRY_ASSIGN(renderer, ConversationRenderer::open(*read.chat));
    }
    return forEachRow(config, manifest, [&](const Row& row) -> Result<bool> {
        if (!row.isConversation || !renderer)
            return onText(row.text);
        const auto written = renderer->write(row.text, config.chatLoss);
        return written.ok() ? onText(written.value().text) : Result<bool>(true);
    });
}

Status forEachRow(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(const Row&)>& onRow)
{
    return forEachPlacedRow(config, manifest, [&onRow](const Row& row, RowPlace) { return onRow(row); });
}

Status forEachPlacedRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left)
{
    auto status = readEachRow(config, manifest, onRow, left);
    if (!status.ok())
        (void)doubtWhatCame(status.error()); // the caller has taken some of the rows, and may begin anew
    return status;
}

} // namespace furrow
