#include "ui/parts/figure_row.h"

#include "ui/parts/page_parts.h"

#include <QGridLayout>
#include <QLabel>
#include <algorithm>
#include <numeric>

namespace furrow {

namespace {

constexpr int kGap = 20;
constexpr int kLeastWidth = 96; // of a column, so that a growing number does not move its neighbours

} // namespace

FigureRow::FigureRow(const QStringList& names, QWidget* parent)
    : QWidget(parent)
    , grid_(new QGridLayout(this))
{
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(kGap);
    grid_->setVerticalSpacing(8);
    for (const QString& name : names) {
        auto* box = new QWidget(this);
        auto* column = new QVBoxLayout(box);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        QLabel* title = makeLabel(name, TextTone::Hint, TextSize::Small);
        column->addWidget(title);
        QLabel* value = makeLabel(QStringLiteral("–"), TextTone::Value, TextSize::Title, true);
        value->setMinimumWidth(kLeastWidth);
        value->setAccessibleName(name);
        column->addWidget(value);
        figures_.push_back({ box, title, value });
    }
    layOut();
}

void FigureRow::setValue(int figure, const QString& value, const QString& tip)
{
    QLabel* label = figures_[static_cast<std::size_t>(figure)].value;
    label->setText(value);
    label->setAccessibleDescription(value);
    if (!tip.isEmpty())
        figures_[static_cast<std::size_t>(figure)].box->setToolTip(tip);
    layOut();
}

void FigureRow::setName(int figure, const QString& name)
{
    const Figure& changed = figures_[static_cast<std::size_t>(figure)];
    changed.name->setText(name);
    changed.value->setAccessibleName(name);
    layOut();
}

void FigureRow::reserveName(int figure, const QString& name)
{
    const Figure& changed = figures_[static_cast<std::size_t>(figure)];
    changed.name->setMinimumWidth(changed.name->fontMetrics().horizontalAdvance(name));
    layOut();
}

void FigureRow::clear()
{
    for (std::size_t i = 0; i < figures_.size(); ++i)
        setValue(static_cast<int>(i), QStringLiteral("–"));
}

/// Each column is as wide as its widest figure: one long name does not cost all of them room.
int FigureRow::widthOf(int columns) const
{
    std::vector<int> widest(static_cast<std::size_t>(columns), kLeastWidth);
    for (std::size_t i = 0; i < figures_.size(); ++i) {
        int& column = widest[i % widest.size()];
        column = std::max(column, figures_[i].box->sizeHint().width());
    }
    return std::accumulate(widest.begin(), widest.end(), kGap * (columns - 1));
}

void FigureRow::layOut()
{
    const int count = static_cast<int>(figures_.size());
    int rows = 1;
    const auto columnsOf = [count](int number) { return (count + number - 1) / number; }; // rows of like length
    while (rows < count && widthOf(columnsOf(rows)) > width())
        ++rows;
    const int columns = columnsOf(rows);
    if (columns == columns_)
        return;
    grid_->setColumnStretch(columns_, 0);
    columns_ = columns;
    for (int i = 0; i < static_cast<int>(figures_.size()); ++i)
        grid_->addWidget(figures_[static_cast<std::size_t>(i)].box, i / columns, i % columns);
    grid_->setColumnStretch(columns, 1);
}

void FigureRow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layOut();
}

} // namespace furrow
