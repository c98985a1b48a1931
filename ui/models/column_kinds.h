#pragma once

#include "ui/models/table_model.h"
#include "ui/models/words.h"

#include <cmath>

namespace furrow {

// The kinds of columns that tables are made of.

inline QString lossText(double loss) { return std::isfinite(loss) ? fixedText(loss, 3) : QStringLiteral("–"); }

/// Kept tokens per active second; a run that has trained nothing has none yet. @param perSecond  meanTokensPerSecond()
inline QString keptPaceText(double perSecond)
{
    return perSecond > 0 ? countText(std::llround(perSecond)) : QStringLiteral("–");
}

/// Column of a count.
template <typename Row>
TableColumn<Row> counted(std::function<QString()> title, std::function<std::int64_t(const Row&)> value)
{
    return { std::move(title), [value](const Row& row) { return countText(value(row)); },
        [value](const Row& row) { return QVariant(static_cast<qlonglong>(value(row))); }, true, {} };
}

/// Column of a loss.
template <typename Row>
TableColumn<Row> lossColumn(std::function<QString()> title, std::function<double(const Row&)> value)
{
    return { std::move(title), [value](const Row& row) { return lossText(value(row)); },
        [value](const Row& row) { return QVariant(value(row)); }, true, {} };
}

/// Column of a wall time.
template <typename Row>
TableColumn<Row> timed(std::function<QString()> title, std::function<std::int64_t(const Row&)> value)
{
    return { std::move(title), [value](const Row& row) { return wallTimeText(value(row)); },
        [value](const Row& row) { return QVariant(static_cast<qlonglong>(value(row))); }, true, {} };
}

/// The same column with a tip of its title.
template <typename Row> TableColumn<Row> explained(TableColumn<Row> column, std::function<QString()> tip)
{
    column.tip = std::move(tip);
    return column;
}

/// Column of words.
template <typename Row> TableColumn<Row> worded(std::function<QString()> title, std::function<QString(const Row&)> text)
{
    return { std::move(title), std::move(text), {}, false, {} };
}

} // namespace furrow
