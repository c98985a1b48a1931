#include "core/data/source/column_choice.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/data/source/column_path.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kMostShown = 12;

std::string joined(const std::vector<std::string>& names)
{
    std::string all;
    for (std::size_t i = 0; i < std::min(names.size(), kMostShown); ++i)
        all += (all.empty() ? "" : ", ") + names[i];
    return names.size() > kMostShown ? all + ", ..." : all.empty() ? "none" : all;
}

bool sameWithoutCase(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// The column that a person calls `wanted`: the name itself, its path, either without case, or the list of that name.
/// "" when there is none.
std::string findColumn(const std::vector<std::string>& names, const std::string& wanted)
{
    for (const auto& asked : { wanted, ColumnPath::ofName(wanted).text(), ColumnPath::ofName(wanted).each().text() }) {
        if (std::find(names.begin(), names.end(), asked) != names.end())
            return asked;
        const auto near = std::find_if(
            names.begin(), names.end(), [&](const std::string& name) { return sameWithoutCase(name, asked); });
        if (near != names.end())
            return *near;
    }
    return "";
}

/// What could be meant by the same name.
void sayWhatIsCalledAlike(const FileColumns& columns, const std::string& wanted, ColumnChoice& chosen)
{
    const auto alike = std::count_if(columns.all.begin(), columns.all.end(),
        [&](const std::string& name) { return ColumnPath::ofName(name).text() == chosen.column; });
    if (alike > 1)
        chosen.says.push_back(
            sentence("%1 columns are called %2; the first one is read.", { Count(alike), chosen.column }));
    for (const auto& other : { ColumnPath::ofName(wanted).text(), ColumnPath::parse(wanted).text() })
        if (other != chosen.column && std::find(columns.text.begin(), columns.text.end(), other) != columns.text.end())
            chosen.says.push_back(sentence("There is another column %1; write it so if it is meant.", { other }));
}

ColumnChoice choice(const FileColumns& columns, const std::string& column, const std::string& why)
{
    ColumnChoice chosen { column, { why }, {} };
    sayWhatIsCalledAlike(columns, column, chosen);
    std::copy_if(columns.text.begin(), columns.text.end(), std::back_inserter(chosen.others),
        [&](const std::string& name) { return name != column; });
    if (column.find("[]") != std::string::npos)
        chosen.says.push_back(sentence("The texts of a list are joined by line breaks."));
    if (!chosen.others.empty())
        chosen.says.push_back(
            sentence("Other columns with text: %1. The setting text_column chooses.", { joined(chosen.others) }));
    return chosen;
}

} // namespace

Result<ColumnChoice> chooseTextColumn(
    const FileColumns& columns, const std::string& configured, const std::string& fileName)
{
    if (!configured.empty()) {
        if (const auto column = findColumn(columns.text, configured); !column.empty()) {
            ColumnChoice chosen { column, { sentence("The text is column %1, as text_column says.", { column }) }, {} };
            sayWhatIsCalledAlike(columns, configured, chosen);
            return chosen;
        }
        if (!findColumn(columns.all, configured).empty())
            return Error { ErrorCode::InvalidArgument,
                sentence("%1: the column '%2' holds no text. Columns with text are: %3.",
                    { fileName, configured, joined(columns.text) }) };
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column '%2'. Its columns are: %3.", { fileName, configured, joined(columns.all) }) };
    }
    for (const char* usual : { "text", "content", "sentence", "document", "article", "body" })
        if (const auto column = findColumn(columns.text, usual); !column.empty())
            return choice(columns, column, sentence("The text is column %1, chosen by its name.", { column }));
    for (const char* conversation : { "messages[].content", "conversations[].value" })
        if (const auto column = findColumn(columns.text, conversation); !column.empty())
            return choice(columns, column, sentence("The text is column %1, chosen by its name.", { column }));
    if (columns.text.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has no column with text. Its columns are: %2.", { fileName, joined(columns.all) }) };
    const auto& first = columns.text.front();
    return choice(columns, first,
        columns.text.size() == 1 ? sentence("The text is column %1, the only one with text.", { first })
                                 : sentence("The text is column %1, the first one with text.", { first }));
}

} // namespace furrow
