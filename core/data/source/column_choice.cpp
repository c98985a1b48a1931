#include "core/data/source/column_choice.h"

#include "core/base/format.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/data/source/column_path.h"

#include <algorithm>

namespace furrow {

namespace {

bool sameWithoutCase(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// The column that a person calls `wanted`: the name itself, its path, either without case, or the list of that name or
/// path. "" when there is none.
std::string findColumn(const std::vector<std::string>& names, const std::string& wanted)
{
    for (const auto& asked : { wanted, ColumnPath::ofName(wanted).text(), ColumnPath::ofName(wanted).each().text(),
             ColumnPath::parse(wanted).each().text() }) {
        if (std::find(names.begin(), names.end(), asked) != names.end())
            return asked;
        const auto near = std::find_if(
            names.begin(), names.end(), [&](const std::string& name) { return sameWithoutCase(name, asked); });
        if (near != names.end())
            return *near;
    }
    return "";
}

/// The first column whose last member has that name: meta.text, paragraphs[].text. "" when there is none.
std::string findNested(const std::vector<std::string>& names, const std::string& wanted)
{
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        const auto moves = ColumnPath::parse(name).moves();
        const auto last
            = std::find_if(moves.rbegin(), moves.rend(), [](const ColumnPath::Move& move) { return !move.each; });
        return moves.size() > 1 && last != moves.rend() && sameWithoutCase(last->name, wanted);
    });
    return found == names.end() ? "" : *found;
}

/// By a name that is usual for texts; "" when no column has one.
std::string findUsual(const std::vector<std::string>& names)
{
    constexpr const char* kUsual[] = { "text", "txt", "content", "sentence", "document", "article", "body" };
    for (const char* usual : kUsual)
        if (auto column = findColumn(names, usual); !column.empty())
            return column;
    for (const char* conversation : { "messages[].content", "conversations[].value" })
        if (auto column = findColumn(names, conversation); !column.empty())
            return column;
    for (const char* usual : kUsual)
        if (auto column = findNested(names, usual); !column.empty())
            return column;
    return "";
}

/// The first of those with the most text; "" where none has any.
Result<std::string> findLongest(const std::vector<std::string>& names, const TextAmount& amountOf)
{
    std::string longest;
    double most = 0;
    for (const auto& name : names) {
        FURROW_TRY_ASSIGN(const auto amount, amountOf(name));
        if (amount > most) {
            most = amount;
            longest = name;
        }
    }
    return longest;
}

/// What could be meant by the same name.
void sayWhatIsCalledAlike(const FileColumns& columns, const std::string& wanted, ColumnChoice& chosen)
{
    const auto alike = std::count_if(columns.all.begin(), columns.all.end(),
        [&](const std::string& name) { return ColumnPath::ofName(name).text() == chosen.column; });
    if (alike > 1)
        chosen.says.push_back(
            sentence("%1 columns are called %2; the first one is read.", { Count(alike), shownColumn(chosen.column) }));
    for (const auto& other : { ColumnPath::ofName(wanted).text(), ColumnPath::parse(wanted).text() })
        if (other != chosen.column && std::find(columns.text.begin(), columns.text.end(), other) != columns.text.end())
            chosen.says.push_back(
                sentence("There is another column %1; write it so if it is meant.", { shownColumn(other) }));
}

ColumnChoice choice(const FileColumns& columns, const std::string& column, const Message& why)
{
    ColumnChoice chosen { column, { why }, {} };
    sayWhatIsCalledAlike(columns, column, chosen);
    std::copy_if(columns.text.begin(), columns.text.end(), std::back_inserter(chosen.others),
        [&](const std::string& name) { return name != column; });
    if (column.find("[]") != std::string::npos)
        chosen.says.push_back(sentence("The texts of a list are joined by line breaks."));
    if (!chosen.others.empty())
        chosen.says.push_back(
            sentence("Other columns with text: %1. The setting text_column chooses.", { shownNames(chosen.others) }));
    return chosen;
}

} // namespace

std::string shownColumn(std::string_view name)
{
    constexpr std::size_t kMostBytes = 200;
    return plainLine(name, kMostBytes);
}

Message shownNames(const std::vector<std::string>& names)
{
    constexpr std::size_t kMostShown = 12;
    std::string all;
    for (std::size_t i = 0; i < std::min(names.size(), kMostShown); ++i)
        all += (all.empty() ? "" : ", ") + shownColumn(names[i]);
    return all.empty() ? sentence("none at all") : Message(names.size() > kMostShown ? all + ", ..." : all);
}

Result<ColumnChoice> chooseTextColumn(
    const FileColumns& columns, const std::string& configured, const std::string& fileName, const TextAmount& amountOf)
{
    if (!configured.empty()) {
        if (const auto column = findColumn(columns.text, configured); !column.empty()) {
            ColumnChoice chosen { column,
                { sentence("The text is column %1, as text_column says.", { shownColumn(column) }) }, {} };
            sayWhatIsCalledAlike(columns, configured, chosen);
            return chosen;
        }
        if (!findColumn(columns.all, configured).empty())
            return Error { ErrorCode::InvalidArgument,
                sentence("%1: the column '%2' holds no text. Columns with text are: %3.",
                    { fileName, shownColumn(configured), shownNames(columns.text) }) };
        const bool hasNested = std::any_of(columns.text.begin(), columns.text.end(), [&columns](const auto& name) {
            return std::find(columns.all.begin(), columns.all.end(), name) == columns.all.end();
        });
        if (hasNested)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has no column '%2'. Its columns with text are: %3.",
                    { fileName, shownColumn(configured), shownNames(columns.text) }) };
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column '%2'. Its columns are: %3.",
                { fileName, shownColumn(configured), shownNames(columns.all) }) };
    }
    if (const auto column = findUsual(columns.text); !column.empty())
        return choice(columns, column, sentence("The text is column %1, chosen by its name.", { shownColumn(column) }));
    if (columns.all.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no columns: it holds no rows, or only blank ones.", { fileName }) };
    if (columns.text.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column with text. Its columns are: %2.", { fileName, shownNames(columns.all) }) };
    if (columns.text.size() == 1)
        return choice(columns, columns.text.front(),
            sentence("The text is column %1, the only one with text.", { shownColumn(columns.text.front()) }));
    FURROW_TRY_ASSIGN(const auto longest, findLongest(columns.text, amountOf));
    if (longest.empty())
        return choice(columns, columns.text.front(),
            sentence(
                "The text is column %1, the first one that can hold text.", { shownColumn(columns.text.front()) }));
    return choice(columns, longest, sentence("The text is column %1: it has the most text.", { shownColumn(longest) }));
}

} // namespace furrow
