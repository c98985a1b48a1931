#include "ui/shell/palette_search.h"

#include "core/config/schema.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/shell/command_palette.h"

#include <QRegularExpression>
#include <algorithm>
#include <optional>

namespace furrow {

namespace {

constexpr std::size_t kMostOfAKind = 20;

bool hasAll(const QString& text, const QStringList& words)
{
    return std::all_of(
        words.begin(), words.end(), [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

std::optional<PaletteFinding> namedChunk(Workbench& bench, const QString& words, const PaletteTargets& targets)
{
    static const QRegularExpression form(
        QStringLiteral("^\\s*(?:\\p{L}+\\s*)?(\\d{1,9})(?:\\s*[:,\\s]\\s*|(?=\\p{L}))(?:\\p{L}+\\s*)?(\\d{1,9})\\s*$"));
    const auto match = form.match(words);
    if (!match.hasMatch())
        return std::nullopt;
    const auto block = match.captured(1).toLongLong();
    const int column = match.captured(2).toInt();
    const auto& cells = bench.cells().cells();
    const auto cell = std::find_if(
        cells.begin(), cells.end(), [&](const ChunkCell& one) { return one.block == block && one.column == column; });
    PaletteFinding found { chunkTitle(block, column), {}, CommandPalette::tr("Show it in the map and in the inspector"),
        {}, {} };
    if (cell == cells.end()) {
        found.whyNot = CommandPalette::tr("the map that is shown has no such chunk");
        return found;
    }
    found.detail = chunkShort(block, column);
    found.open = [open = targets.chunk, chunk = SelectedChunk { cell->id, block, column }] { open(chunk); };
    return found;
}

void addRuns(
    std::vector<PaletteFinding>& found, Workbench& bench, const QStringList& words, const PaletteTargets& targets)
{
    std::size_t count = 0;
    for (const RunLine& line : *bench.scanner().lines()) {
        const QString name = CommandPalette::tr("Library: %1").arg(line.name);
        if (!hasAll(name, words))
            continue;
        found.push_back({ name, line.problem.empty() ? stateWord(line.state) : QString(), line.folder, {},
            [open = targets.run, folder = line.folder] { open(folder); } });
        if (++count == kMostOfAKind)
            return;
    }
}

void addSettings(std::vector<PaletteFinding>& found, const QStringList& words, const PaletteTargets& targets)
{
    std::size_t count = 0;
    for (const Setting& setting : settings()) {
        const QString option = QString::fromStdString(setting.option());
        const QString name = CommandPalette::tr("New run: %1").arg(settingLabel(setting));
        if (!hasAll(name + QLatin1Char(' ') + option, words))
            continue;
        found.push_back(
            { name, option, settingHelp(setting), {}, [open = targets.setting, key = setting.key] { open(key); } });
        if (++count == kMostOfAKind)
            return;
    }
}

} // namespace

std::vector<PaletteFinding> paletteFindings(Workbench& bench, const QString& words, const PaletteTargets& targets)
{
    std::vector<PaletteFinding> found;
    if (auto chunk = namedChunk(bench, words, targets))
        found.push_back(std::move(*chunk));
    const QStringList each = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    addRuns(found, bench, each, targets);
    addSettings(found, each, targets);
    return found;
}

} // namespace furrow
