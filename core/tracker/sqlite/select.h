#pragma once

#include <string_view>

namespace furrow {

/// A SELECT whose columns are read by their names. The text of the statement is their only list, so that no number of
/// a column can belong to another one; a name that is not in it does not compile:
///
///     constexpr Select kBlocks { "SELECT b.block, count(*) AS chunks FROM block b" };
///     Rows rows = db.query(kBlocks.sql);
///     while (rows.next())
///         use(rows.integer(kBlocks["block"]), rows.integer(kBlocks["chunks"]));
///
/// A column is called as after AS, else as it stands there, without its table.
struct Select {
    const char* sql; ///< a literal, as Database::query wants it

    consteval int operator[](std::string_view name) const
    {
        constexpr std::string_view kSelect = "SELECT ";
        const std::string_view text = std::string_view(sql).substr(kSelect.size());
        int column = 0;
        int depth = 0;
        bool isQuoted = false;
        std::size_t begin = 0; // of the name: behind the newest space or point outside of brackets
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            const bool isEnd = c == ',' || text.substr(i).starts_with(" FROM ");
            isQuoted = isQuoted != (c == '\'');
            depth += isQuoted ? 0 : c == '(' ? 1 : c == ')' ? -1 : 0;
            if (isQuoted || depth > 0)
                continue;
            if (isEnd && text.substr(begin, i - begin) == name)
                return column;
            if (isEnd && c != ',')
                break;
            column += isEnd ? 1 : 0;
            begin = isEnd || c == ' ' || c == '.' ? i + 1 : begin;
        }
        throw "the SELECT has no such column"; // in a constant: an error of the compiler
    }
};

} // namespace furrow
