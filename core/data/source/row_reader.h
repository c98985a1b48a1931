#pragma once

#include "core/base/message.h"
#include "core/base/utf8.h"
#include "core/chat/conversation.h"
#include "core/data/source/column_choice.h"
#include "core/data/source/file_access.h"
#include "core/data/source/record_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// How the rows of a source are found in its files.
struct RowOptions {
    RecordRules text; ///< for plain text files
    std::string textColumn; ///< for the others
    ConversationForm conversation = ConversationForm::None; ///< in that column
};
RowOptions rowOptions(const RunConfig& config, const DataSource& source);

/// Walks over the rows of one file without looking inside: for planning.
class RowScanner {
public:
    virtual ~RowScanner() = default;
    /// false at the definite end. @param sizeBytes  of the row as stored; for Parquet the mean of its row group, for
    /// Arrow of its batch with all columns
    virtual Result<bool> next(std::uint64_t& sizeBytes) = 0;
    /// Where a reader can go on: byte offset in the plain text, row index for Parquet and Arrow.
    virtual std::uint64_t position() const = 0;
    /// The unit (row_choice.h) of the row that was given last.
    virtual std::uint64_t unit() const = 0;
    /// Of the bytes of that row, chained: pass what it gave for the row before. 0: rows of this format are not read
    /// when they are planned.
    virtual std::uint64_t hash(std::uint64_t before) const { return before; }
};

struct Row {
    std::string_view text; ///< valid until the next call
    bool isConversation = false; ///< the text is one, in the form of readConversation()
    const char* problem = nullptr; ///< not null: the row is unreadable, and why; valid until the next call
    std::uint64_t sizeBytes = 0; ///< as stored
    bool repaired = false; ///< escapes or bytes that are no characters were replaced (JSON, csv)
    bool isDamaged = false; ///< passed over with what is damaged (bad_files): it has a problem, and is left out

    /// Some of its bytes or escapes are no characters: they are in the text as they stand, or were replaced.
    bool isBroken() const { return repaired || !isValidUtf8(text); }
};
/// "row 2 (line 3) of chats.jsonl is broken JSON": rows count from 0, and the line is what an editor shows.
/// @param problem  as Row::problem
Message rowInWords(std::int64_t row, const DataFile& file, const std::string& problem);

/// The line that an editor shows for a row, from 1; nothing where it does not follow from the row.
std::optional<std::int64_t> lineOfRow(std::int64_t row, const DataFile& file);

/// Reads the texts of one file.
class RowReader {
public:
    virtual ~RowReader() = default;
    /// false at the definite end. A row that cannot be read is a Row with a problem, not an error.
    virtual Result<bool> next(Row& row) = 0;
    /// After next() failed with Corrupt: how many rows are lost, from the one that was asked for on. Behind them a new
    /// reader can go on. nullopt: nobody knows.
    virtual std::optional<std::int64_t> rowsLost() const { return std::nullopt; }
    /// The unit (row_choice.h) of the row that was given last.
    virtual std::uint64_t unit() const = 0;
    /// As RowScanner::hash: the same for the same rows.
    virtual std::uint64_t hash(std::uint64_t before) const { return before; }
};

/// @param access  must live as long as what is opened
/// @param position  0 for the beginning of the file, else one that a RowScanner gave
Result<std::unique_ptr<RowScanner>> openRowScanner(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position);
Result<std::unique_ptr<RowReader>> openRowReader(
    FileAccess& access, const DataFile& file, const RowOptions& options, std::uint64_t position);

/// The conversation that rows with these columns hold; None where they hold plain text.
/// @param wanted  the setting text_column
ConversationColumns findConversationIn(const DataFile& file, const FileColumns& columns, const std::string& wanted);

/// The same for pairs of answers.
ConversationColumns findAnswerPairsIn(const DataFile& file, const FileColumns& columns);

/// Looks at the header of csv, at the first 100 lines of jsonl or elements of json, at the footer of Parquet. Empty for
/// plain text and WARC.
Result<FileColumns> readColumns(FileAccess& access, const DataFile& file);

/// Of the first rows, for the choice of a column: bytes of text in a row. Of Parquet that is not here the share of the
/// column in the file, which its footer says.
Result<double> textAmount(FileAccess& access, const DataFile& file, const std::string& column);

} // namespace furrow
