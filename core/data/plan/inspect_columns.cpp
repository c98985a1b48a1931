#include "core/data/plan/inspect_columns.h"

#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/source/byte_source.h"
#include "core/data/source/column_choice.h"
#include "core/data/source/csv_fields.h"
#include "core/data/source/data_format.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/json_text.h"
#include "core/data/source/row_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace furrow {

namespace {

bool canHoldConversations(TextFormat format)
{
    return format == TextFormat::JsonLines || format == TextFormat::JsonList || format == TextFormat::Csv
        || format == TextFormat::Tsv || format == TextFormat::Parquet;
}

Error noPairs(const DataFile& file, const std::vector<std::string>& columns)
{
    return { ErrorCode::InvalidArgument,
        columns.empty()
            ? sentence(
                  "%1 is text, and %2 needs pairs of answers: rows with the columns chosen and rejected, and perhaps prompt. Write them as jsonl, or leave that setting out.",
                  { file.path, optionTerm("objective", "dpo") })
            : sentence(
                  "%1 has not the columns chosen and rejected, which %2 needs. Its columns are: %3. Name a file of pairs, or leave that setting out.",
                  { file.path, optionTerm("objective", "dpo"), shownNames(columns) }) };
}

/// The columns of pairs of answers, where a run is to learn from such.
Result<ColumnChoice> choosePairs(
    const DataFile& file, const FileColumns& columns, bool hasTemplate, bool isFirst, DataSource& source)
{
    const auto found = findAnswerPairsIn(file, columns);
    if (found.form == ConversationForm::None)
        return noPairs(file, columns.all);
    if (!canHoldConversations(file.format.format))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 holds pairs of answers, which are read from jsonl, json, csv, tsv and Parquet only. Write it as jsonl.",
                { file.path }) };
    if (found.form == ConversationForm::PairOfMessages && !hasTemplate)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The answers of %1 are messages, and there is no chat template that writes them. Name one with chat_template, such as chatml.",
                { file.path }) };
    if (!isFirst && found.form != source.conversation)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 holds conversations in the form '%2', the files before it in the form '%3'. Name them as two sources.",
                { file.path, toString(found.form), toString(source.conversation) }) };
    source.conversation = found.form;
    const auto prefix = file.format.list.empty() ? "" : file.format.list + "[].";
    return ColumnChoice { prefix + found.column,
        { found.form == ConversationForm::PairOfMessages
                ? sentence(
                      "The rows are pairs of answers (columns chosen and rejected), written by the chat template: the chosen one is learnt to be preferred.")
                : sentence(
                      "The rows are pairs of answers (columns chosen and rejected), texts as they stand: the chosen one is learnt to be preferred.") },
        {} };
}

/// Pairs would be trained as texts, of which only one column is read.
Error pairsWithoutObjective(const DataFile& file)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 holds pairs of answers (columns chosen and rejected). %2 learns from them which one is preferred; %3 trains the chosen ones as plain text.",
            { file.path, optionTerm("objective", "dpo"), optionTerm("text_column", "chosen") }) };
}

/// The column of a file, as that of conversations where there is a chat template and the columns are those of some.
Result<ColumnChoice> chooseContent(FileAccess& access, const DataFile& file, const FileColumns& columns,
    const RunConfig& config, bool hasTemplate, DataSource& source)
{
    const bool isFirst = source.textColumn.empty();
    if (config.objective == Objective::Dpo)
        return choosePairs(file, columns, hasTemplate, isFirst, source);
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
        const auto pairs = findAnswerPairsIn(file, columns);
        const auto element = file.format.list.empty() ? std::string() : file.format.list + "[].";
        const std::string taken
            = choice.column.substr(choice.column.starts_with(element) ? element.size() : std::size_t(0));
        if (wanted.empty() && isPair(pairs.form)
            && (taken.starts_with("chosen") || taken.starts_with("rejected") || taken.starts_with("prompt")))
            return pairsWithoutObjective(file);
        if (found.form == ConversationForm::Messages || found.form == ConversationForm::ShareGpt)
            choice.says.push_back(sentence(
                "The column %1 holds conversations. With a chat_template they are trained as such; without one their texts are plain text.",
                { shownColumn(found.column) }));
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
            { file.path, shownColumn(column), first.path, shownNames(columns.text) }) };
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

} // namespace

Status chooseColumn(
    FileAccess& access, const RunConfig& config, bool hasTemplate, DataSource& source, DataInspection& inspection)
{
    const DataFile* first = nullptr; ///< that decided
    for (const auto& file : source.files) {
        if (file.format.format == TextFormat::Text || file.format.format == TextFormat::Warc) {
            if (config.objective == Objective::Dpo)
                return noPairs(file, {});
            continue;
        }
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

} // namespace furrow
