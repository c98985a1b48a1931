#include "ui/models/library_table.h"

#include "core/config/schema.h"
#include "ui/models/column_kinds.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::size_t kLossColumn = 2;

QString joinedTags(const RunLine& line)
{
    QStringList tags;
    for (const std::string& tag : line.notes.tags)
        tags.append(QString::fromStdString(tag));
    return tags.join(QStringLiteral(", "));
}

TableColumn<RunLine> words(std::function<QString()> title, std::function<QString(const RunLine&)> text)
{
    return { std::move(title), std::move(text), {}, false, {} };
}

TableColumn<RunLine> number(
    std::function<QString()> title, std::function<double(const RunLine&)> value, std::function<QString(double)> text)
{
    return { std::move(title),
        [value, text](const RunLine& line) { // of a run that cannot be read nothing is known, not even that it is none
            return std::isfinite(value(line)) && line.problem.empty() ? text(value(line)) : QStringLiteral("–");
        },
        [value](const RunLine& line) { return QVariant(value(line)); }, true, {} };
}

/// Numbers are sorted as numbers.
QVariant sortValueOf(const RunLine& line, const Setting& setting)
{
    if (!line.config)
        return {};
    const RunConfig& config = *line.inForce();
    return std::visit(
        [&](const auto& field) -> QVariant {
            if constexpr (requires { requires std::is_arithmetic_v<std::remove_cvref_t<decltype(config.*field)>>; }) {
                using Value = std::remove_cvref_t<decltype(config.*field)>;
                if constexpr (std::is_same_v<Value, std::int64_t>)
                    return QVariant(static_cast<qlonglong>(config.*field));
                else
                    return QVariant(config.*field);
            } else {
                return QVariant(QString::fromStdString(settingText(config, setting)));
            }
        },
        setting.field);
}

/// "1", or "1 → 3" when a resume changed it.
QString settingOf(const RunLine& line, const Setting& setting)
{
    const QString begunWith = QString::fromStdString(settingText(*line.config, setting));
    const QString now = QString::fromStdString(settingText(*line.inForce(), setting));
    return begunWith == now ? now : QStringLiteral("%1 → %2").arg(begunWith, now);
}

TableColumn<RunLine> settingColumn(const Setting& setting)
{
    const bool isNumber = std::holds_alternative<std::int64_t RunConfig::*>(setting.field)
        || std::holds_alternative<double RunConfig::*>(setting.field);
    return { [&setting] { return settingLabel(setting); },
        [&setting](const RunLine& line) { return line.config ? settingOf(line, setting) : QString(); },
        [&setting](const RunLine& line) { return sortValueOf(line, setting); }, isNumber, {} };
}

} // namespace

std::vector<TableColumn<RunLine>> libraryColumns()
{
    const auto loss = [](double value) { return fixedText(value, 3); };
    const auto count = [](double value) { return countText(std::llround(value)); };
    std::vector<TableColumn<RunLine>> columns {
        words(
            [] { return QCoreApplication::translate("LibraryTable", "Run"); }, [](const RunLine& l) { return l.name; }),
        words([] { return QCoreApplication::translate("LibraryTable", "State"); },
            [](const RunLine& l) { return stateWord(l); }),
        number([] { return QCoreApplication::translate("LibraryTable", "Loss"); },
            [](const RunLine& l) { return l.loss; }, loss),
        number([] { return QCoreApplication::translate("LibraryTable", "Eval loss"); },
            [](const RunLine& l) { return l.evalLoss; }, loss),
        number([] { return QCoreApplication::translate("LibraryTable", "Tokens"); },
            [](const RunLine& l) { return static_cast<double>(l.tokens); }, count),
        number([] { return QCoreApplication::translate("LibraryTable", "Steps"); },
            [](const RunLine& l) { return static_cast<double>(l.steps); }, count),
        number([] { return QCoreApplication::translate("LibraryTable", "Kept tokens per active second"); },
            [](const RunLine& l) { return l.meanTokensPerSecond; }, keptPaceText),
        number([] { return QCoreApplication::translate("LibraryTable", "Active time"); },
            [](const RunLine& l) { return l.activeSeconds; }, durationText),
        number([] { return QCoreApplication::translate("LibraryTable", "Chunks committed, latest epochs"); },
            [](const RunLine& l) { return static_cast<double>(l.committed); }, count),
        number([] { return QCoreApplication::translate("LibraryTable", "Epochs complete"); },
            [](const RunLine& l) { return static_cast<double>(l.epochsClosed); }, count),
        number([] { return QCoreApplication::translate("LibraryTable", "Attempts"); },
            [](const RunLine& l) { return static_cast<double>(l.attempt); }, count),
        number([] { return QCoreApplication::translate("LibraryTable", "Made"); },
            [](const RunLine& l) { return static_cast<double>(l.createdWallNs); },
            [](double wall) { return wallTimeText(static_cast<std::int64_t>(wall)); }),
        words([] { return QCoreApplication::translate("LibraryTable", "Group"); },
            [](const RunLine& l) { return QString::fromStdString(l.notes.group); }),
        words([] { return QCoreApplication::translate("LibraryTable", "Tags"); }, joinedTags),
        words([] { return QCoreApplication::translate("LibraryTable", "Preset"); },
            [](const RunLine& l) { return l.preset; }),
    };
    columns[kLossColumn].text = [](const RunLine& l) { return lossText(l.loss, l.lossIsGone); };
    columns[kLossColumn].extra = [](const RunLine& l, int role) {
        return role == Qt::ToolTipRole && l.lossWorkers > 0
            ? QVariant(l.lossIsGone ? lossIsGoneText() : lossOfText(l.lossWorkers))
            : QVariant();
    };
    for (const Setting& setting : settings()) {
        if (setting.key != "name")
            columns.push_back(settingColumn(setting));
    }
    return columns;
}

LibraryTableFilter::LibraryTableFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(SortRole);
}

void LibraryTableFilter::setWords(const QString& words)
{
    words_ = words.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void LibraryTableFilter::reindex()
{
    const auto* table = dynamic_cast<const LibraryTable*>(sourceModel());
    texts_.clear();
    for (const RunLine& line : table->rows()) {
        QStringList parts { line.name, stateWord(line), line.preset, joinedTags(line),
            QString::fromStdString(line.notes.group), QString::fromStdString(line.notes.note) };
        for (const Setting& setting : settings()) {
            if (line.config)
                parts.append(settingOf(line, setting));
        }
        texts_.push_back(parts.join(QLatin1Char('\n')).toLower());
    }
    invalidateFilter();
}

bool LibraryTableFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    if (words_.isEmpty() || row >= static_cast<int>(texts_.size()))
        return true;
    const QString& text = texts_[static_cast<std::size_t>(row)];
    return std::all_of(words_.begin(), words_.end(), [&text](const QString& word) { return text.contains(word); });
}

} // namespace furrow
