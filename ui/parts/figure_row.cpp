#include "ui/parts/figure_row.h"

#include "ui/parts/page_parts.h"

#include <QGridLayout>
#include <QLabel>
#include <algorithm>

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

void FigureRow::clear()
{
    for (std::size_t i = 0; i < figures_.size(); ++i)
        setValue(static_cast<int>(i), QStringLiteral("–"));
}

void FigureRow::layOut()
{
    int widest = kLeastWidth;
    for (const Figure& figure : figures_)
        widest = std::max(widest, figure.box->sizeHint().width());
    const int count = static_cast<int>(figures_.size());
    const int fit = std::clamp((width() + kGap) / (widest + kGap), 1, count);
    const int rows = (count + fit - 1) / fit;
    const int columns = (count + rows - 1) / rows; // rows of like length
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
