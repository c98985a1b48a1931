#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// What a file says of its columns.
struct FileColumns {
    std::vector<std::string> all; ///< of the outermost level
    std::vector<std::string> text; ///< those that can hold text, nested ones as paths (ColumnPath)
    std::int64_t rows = -1; ///< -1: not known without reading
    std::string firstOther {}; ///< of JSON: how the first row begins, where none of those looked at has columns
};

/// The column whose text is trained.
struct ColumnChoice {
    std::string column; ///< as in FileColumns::text
    std::vector<Message> says; ///< the column and the reason, and what else there was
    std::vector<std::string> others; ///< further columns with text; empty when text_column chose
};

/// A name of a column as a sentence shows it: in one line, and no longer than a few words. Files may have any.
std::string shownColumn(std::string_view name);

/// The names behind commas, as far as a sentence has the room; "none at all".
Message shownNames(const std::vector<std::string>& names);

/// How much text a column holds, to be compared with that of the other columns of its file.
using TextAmount = std::function<Result<double>(const std::string& column)>;

/// The configured column where the file has it, else by the rule of the setting `text_column`. Names are compared
/// without case where no name is the same; a list of texts is found by its name too.
/// @param amountOf  asked only where no name says which column it is
Result<ColumnChoice> chooseTextColumn(
    const FileColumns& columns, const std::string& configured, const std::string& fileName, const TextAmount& amountOf);

} // namespace furrow
