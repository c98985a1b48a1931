#include "ui/models/checkpoint_table.h"

#include "core/base/clock.h"
#include "core/run/status/run_weights.h"
#include "ui/bridge/checkpoint_verifier.h"
#include "ui/models/column_kinds.h"
#include "ui/models/core_words.h"
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <optional>

namespace furrow {

namespace {

QString markText(const CheckpointLine& line)
{
    if (line.removed)
        return QCoreApplication::translate("Tables", "removed");
    if (line.damaged)
        return QCoreApplication::translate("Tables", "damaged");
    QStringList marks;
    if (line.best)
        marks.append(QCoreApplication::translate("Tables", "best"));
    if (line.newest)
        marks.append(QCoreApplication::translate("Tables", "most trained"));
    else if (line.head)
        marks.append(QCoreApplication::translate("Tables", "newest of its replica"));
    if (!line.surviving)
        marks.append(QCoreApplication::translate("Tables", "left behind"));
    if (line.pinned)
        marks.append(QCoreApplication::translate("Tables", "pinned"));
    return marks.join(QStringLiteral(", "));
}

QString verdictText(const CheckpointLine& line, const CheckpointVerifier& verifier)
{
    if (line.removed)
        return QStringLiteral("–");
    if (verifier.isChecking(line.id))
        return QCoreApplication::translate("Tables", "checking…");
    const CheckpointVerdict* verdict = verifier.verdictOf(line.id);
    if (verdict == nullptr ? line.damaged : verdict->isDamaged)
        return QCoreApplication::translate("Tables", "damaged");
    if (verdict != nullptr && !verdict->problem.empty())
        return QCoreApplication::translate("Tables", "cannot be read");
    return verdict == nullptr
        ? QCoreApplication::translate("Tables", "not checked yet")
        : QCoreApplication::translate("Tables", "verified at %1").arg(verdict->at.toString(QStringLiteral("HH:mm")));
}

QString ageText(const CheckpointLine& line, std::optional<std::int64_t> moment)
{
    if (moment && line.wallNs > *moment)
        return QCoreApplication::translate("Tables", "saved later");
    return durationText(static_cast<double>(moment.value_or(systemClock().wallNs()) - line.wallNs) * 1e-9);
}

TableColumn<CheckpointLine> markColumn()
{
    using C = CheckpointLine;
    auto column = worded<C>([] { return QCoreApplication::translate("Tables", "Mark"); }, markText);
    column.extra = [](const C& c, int role) {
        return role == Qt::DecorationRole && c.best ? QVariant(theme().icon(QStringLiteral("star"))) : QVariant();
    };
    return column;
}

TableColumn<CheckpointLine> verdictColumn(const CheckpointVerifier& verifier)
{
    using C = CheckpointLine;
    auto column = worded<C>([] { return QCoreApplication::translate("Tables", "Verified"); },
        [&verifier](const C& c) { return verdictText(c, verifier); });
    column.extra = [&verifier](const C& c, int role) {
        const CheckpointVerdict* verdict = verifier.verdictOf(c.id);
        return role == Qt::ToolTipRole && verdict != nullptr && !verdict->problem.empty()
            ? QVariant(coreWords(verdict->problem))
            : QVariant();
    };
    return column;
}

} // namespace

std::vector<TableColumn<CheckpointLine>> checkpointColumns(const MomentShown& moment)
{
    using C = CheckpointLine;
    return {
        counted<C>(
            [] { return QCoreApplication::translate("Tables", "Checkpoint"); }, [](const C& c) { return c.id.value; }),
        markColumn(),
        lossColumn<C>([] { return QCoreApplication::translate("Tables", "Eval loss"); },
            [](const C& c) { return c.record.evalLoss.value_or(std::nan("")); }),
        { [] { return QCoreApplication::translate("Tables", "Age"); },
            [moment](const C& c) { return ageText(c, moment ? moment() : std::nullopt); },
            [](const C& c) { return QVariant(static_cast<qlonglong>(-c.wallNs)); }, true, {} },
        { [] { return QCoreApplication::translate("Tables", "Size"); },
            [](const C& c) { return bytesText(c.record.sizeBytes); },
            [](const C& c) { return QVariant(static_cast<qulonglong>(c.record.sizeBytes)); }, true, {} },
        worded<C>([] { return QCoreApplication::translate("Tables", "Of"); },
            [](const C& c) {
                return c.record.kind == CheckpointKind::Merge
                    ? QCoreApplication::translate("Tables", "merge")
                    : QCoreApplication::translate("Tables", "replica %1").arg(c.record.replica);
            }),
        explained<C>(counted<C>([] { return QCoreApplication::translate("Tables", "Steps in it"); },
                         [](const C& c) { return c.record.step; }),
            [] {
                return QCoreApplication::translate("Tables",
                    "Optimiser steps that are in these weights, those of all replicas that were merged into them.");
            }),
        explained<C>(counted<C>([] { return QCoreApplication::translate("Tables", "Tokens in it"); },
                         [](const C& c) { return c.record.tokens; }),
            [] {
                return QCoreApplication::translate(
                    "Tables", "Tokens that are in these weights, those of all replicas that were merged into them.");
            }),
        timed<C>([] { return QCoreApplication::translate("Tables", "Saved"); }, [](const C& c) { return c.wallNs; }),
    };
}

std::vector<TableColumn<CheckpointLine>> checkpointColumns(
    const CheckpointVerifier& verifier, const MomentShown& moment)
{
    constexpr int kBehindMark = 2;
    auto columns = checkpointColumns(moment);
    columns.insert(columns.begin() + kBehindMark, verdictColumn(verifier));
    return columns;
}

std::vector<CheckpointLine> checkpointLines(const std::vector<SupervisorLedger::CheckpointRow>& rows)
{
    std::vector<CheckpointLine> lines;
    std::optional<std::size_t> best;
    for (const auto& row : rows) {
        const CheckpointLine& line = lines.emplace_back(CheckpointLine { row });
        if (line.record.evalLoss && line.hasFiles() && (!best || *line.record.evalLoss < *lines[*best].record.evalLoss))
            best = lines.size() - 1;
    }
    if (best)
        lines[*best].best = true;
    const auto newest = weightsOf(rows);
    for (CheckpointLine& line : lines)
        line.newest = newest && newest->row.id == line.id;
    return lines;
}

} // namespace furrow
